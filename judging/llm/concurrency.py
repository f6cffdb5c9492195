"""Adaptive limit of concurrent requests to one server (AIMD).

Additive increase, multiplicative decrease.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

FIRST_REPLY_SECONDS = (
    10.0  # for which a first reply is waited for before others are asked beside it
)
_TIMEOUTS = 20  # one timeout in so many replies is the pair's own, more are the server's load


class Concurrency:
    """Limit of concurrent requests, from 1 to `maximum`.

    It begins at `start`, by default at the maximum. A 429 halves it, and so do timeouts where they are more
    than a twentieth of the replies; each round of replies adds 1. What was sent before the last decrease does
    not decrease it again.
    """

    def __init__(self, maximum: int, start: int | None = None) -> None:
        self.most = float(maximum)
        self.limit = float(min(maximum, max(1, start or maximum)))
        self.n_out = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._decreased_at = 0.0
        self._n_replies = self._n_timeouts = 0  # since then
        self._replied_at = float("-inf")
        self._newest_replied = float("-inf")  # when the newest request with a reply was sent

    async def acquire(self) -> float:
        """Wait for a slot, and return the time of the monotonic clock at which it was granted."""
        while self.n_out + 1 > self.limit:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                self._wake()  # the place may have been this one's already
                raise
        self.n_out += 1
        return time.monotonic()

    def release(self) -> None:
        self.n_out -= 1
        if self._waiting:
            self._wake()

    def close(self) -> None:
        """Release everybody who waits for a slot: the server is asked nothing any more."""
        self.limit = float("inf")
        self._wake()

    def replied(self, sent: float) -> None:
        """Note the reply to a request that was sent at a moment."""
        self._replied_at = time.monotonic()
        self._newest_replied = max(self._newest_replied, sent)
        self._n_replies += 1
        if self.limit < self.most:
            self.limit = min(self.most, self.limit + 1 / self.limit)
            if self._waiting:
                self._wake()

    def has_too_much(self, sent: float) -> None:
        """Note that the server said so (429) to a request that was sent at a moment."""
        if sent >= self._decreased_at:
            self.limit = max(1.0, min(self.limit, self.n_out + 1) / 2)
            self._decreased_at = time.monotonic()
            self._n_replies = self._n_timeouts = 0

    def timed_out(self, sent: float) -> bool:
        """Record a timeout; return whether the server's load caused it, not the request."""
        self._n_timeouts += 1
        if self.limit > 1 and self._n_timeouts * _TIMEOUTS > self._n_replies:
            self.has_too_much(sent)
        return self._decreased_at > sent

    def is_queued(self, sent: float, timeout: float) -> bool:
        """Return whether a request seems to wait in a queue of the server.

        It has waited for `timeout` seconds. It does where others have been answered lately, and none
        that was sent much later.
        """
        now = time.monotonic()
        return self._replied_at > now - timeout and self._newest_replied < sent + timeout / 2

    def _wake(self) -> None:
        free = self.limit - self.n_out
        while self._waiting and free >= 1:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1
