"""Retry policy for one model server: full-jitter backoff, Retry-After, a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time

from judging.llm.errors import BackendUnavailableError
from judging.llm.server import NoAnswerError

logger = logging.getLogger(__name__)
SILENCE = 3.0  # seconds without an answer, after which somebody is told
# Seconds for which all servers may be silent, where no reply takes more than a third of them.
MIN_RETRY_SECONDS = 600.0
# Codes of a quota that is used up, and of an account without money: OpenAI; Moonshot.
_USED_UP = ("insufficient_quota", "exceeded_current_quota_error")
FIRST_WAIT, LONGEST_WAIT = 0.5, 15.0  # seconds


class RetryPolicy:
    """Retry policy for one server, with a time limit in seconds.

    Requests share it: what one learns of the server holds for all.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.seconds = seconds
        self.last_success = time.monotonic()
        self._not_before = 0.0
        self._is_told = False
        self._is_aside = asyncio.Event()

    @property
    def silence(self) -> float:
        return time.monotonic() - self.last_success

    def succeeded(self) -> None:
        self.last_success = time.monotonic()
        self._is_told = False

    @property
    def is_aside(self) -> bool:
        return self._is_aside.is_set()

    @property
    def has_to_wait(self) -> bool:
        """Return whether the server asked all clients to wait, and the time has not passed."""
        return self._not_before > time.monotonic()

    def put_aside(self) -> None:
        """End all waits for a retry with BackendUnavailableError: other servers are asked."""
        self._is_aside.set()

    async def before(self) -> None:
        """Wait as long as the server asked all clients to, plus jitter."""
        while (wait := self._not_before - time.monotonic()) > 0:
            await self._sleep(wait + random.uniform(0, min(1.0, wait)))  # noqa: S311

    async def after(self, trouble: NoAnswerError, tries: int, waited: float) -> bool:
        """Wait before the next try; return False if the time limit is reached.

        Raises BackendUnavailableError where the server wants to be left alone for longer, or its quota is
        used up.
        """
        if any(code in trouble.words for code in _USED_UP):
            raise BackendUnavailableError(f"{self.name} has no quota left: {trouble}.") from trouble
        if waited >= self.seconds:
            return False
        if self.silence >= SILENCE and not self._is_told:
            self._is_told = True
            limit = duration_text(self.seconds)
            logger.warning("%s does not answer: %s. It has %s.", self.name, trouble, limit)
        wait = trouble.wait or 0.0
        if wait > self.seconds:
            asks = f"{self.name} asks to wait for {duration_text(wait)}: {trouble}."
            raise BackendUnavailableError(asks) from trouble
        self._not_before = max(self._not_before, time.monotonic() + wait)
        if wait < FIRST_WAIT:  # not told, or a date that has passed by our clock
            # Full jitter, as all that failed together would otherwise come back together.
            longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(tries - 1, 10))
            await self._sleep(random.uniform(0, longest))  # noqa: S311
        return True

    async def _sleep(self, seconds: float) -> None:
        """Sleep; raises BackendUnavailableError as soon as the server is dropped."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_aside.wait(), seconds)
            raise self.aside()

    def aside(self) -> BackendUnavailableError:
        return BackendUnavailableError(f"{self.name} is dropped.")


def duration_text(seconds: float) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds:.0f} seconds"
