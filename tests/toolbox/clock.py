"""Time in tests: a clock that only tests move, and waiting for conditions."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar
from urllib.request import urlopen

from django.utils import timezone

HANGS = 600  # timeout in seconds, long enough for a busy machine
Value = TypeVar("Value")


class FakeClock:
    """Clock moved only by `advance`; it replaces the module `time` or `timezone.now`."""

    def __init__(self) -> None:
        self._start, self._passed = timezone.now(), 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return 1_000.0 + self._passed

    def time(self) -> float:
        return self.now().timestamp()

    def advance(self, seconds: float) -> None:
        self._passed += seconds


def wait_for(condition: Callable[[], Value], seconds: float = HANGS) -> Value:
    """Return the first true value of the condition."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, f"it did not come true within {seconds} seconds"
        time.sleep(0.05)
    return value


def wait_for_server(url: str) -> None:
    """Return when the address answers a GET."""
    wait_for(lambda: is_answered(url))


def is_answered(url: str) -> bool:
    try:
        urlopen(url, timeout=HANGS).close()
    except OSError:
        return False
    return True
