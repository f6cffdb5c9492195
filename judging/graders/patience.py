"""How long a server is waited for that does not answer, and when nothing is hoped for any more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time

from judging.graders.base import Unavailable
from judging.graders.openai_server import NoAnswerError

logger = logging.getLogger(__name__)
SILENCE = 3.0  # seconds without an answer, after which somebody is told
FIRST_WAIT, LONGEST_WAIT = 0.5, 15.0  # seconds


class Patience:
    """With one server, for so many seconds. What one question learns of it holds for all that it is asked."""

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
        """Return True if the server asked all clients to wait, and the time has not passed."""
        return self._not_before > time.monotonic()

    def put_aside(self) -> None:
        """Let what waits to be asked again raise Unavailable: other servers are asked."""
        self._is_aside.set()

    async def before(self) -> None:
        """Wait as long as the server asked everybody to, and a little more, not all at once."""
        while (wait := self._not_before - time.monotonic()) > 0:
            await self._sleep(wait + random.uniform(0, min(1.0, wait)))  # noqa: S311

    async def after(self, trouble: NoAnswerError, tries: int, waited: float) -> bool:
        """Wait before the next try; False where the seconds that were waited are all that one has.

        Raises Unavailable where the server wants to be left alone for longer, or its quota is used up.
        """
        if "insufficient_quota" in trouble.words:
            raise Unavailable(f"{self.name} has no quota left: {trouble}.") from trouble
        if waited >= self.seconds:
            return False
        if self.silence >= SILENCE and not self._is_told:
            self._is_told = True
            patience = in_words(self.seconds)
            logger.warning("%s does not answer: %s. It has %s.", self.name, trouble, patience)
        wait = trouble.wait or 0.0
        if wait > self.seconds:
            asks = f"{self.name} asks to wait for {in_words(wait)}: {trouble}."
            raise Unavailable(asks) from trouble
        self._not_before = max(self._not_before, time.monotonic() + wait)
        if wait < FIRST_WAIT:  # not told, or a date that has passed by our clock
            # Full jitter, as all that failed together would otherwise come back together.
            longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(tries - 1, 10))
            await self._sleep(random.uniform(0, longest))  # noqa: S311
        return True

    async def _sleep(self, seconds: float) -> None:
        """Raises Unavailable as soon as the server is put aside."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_aside.wait(), seconds)
            raise self.aside()

    def aside(self) -> Unavailable:
        return Unavailable(f"{self.name} is put aside.")


def in_words(seconds: float) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds:.0f} seconds"
