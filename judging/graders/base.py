"""Interface of graders: pairs in, replies out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from judging.grading.pairs import Pair, Reply, State
from judging.llm.errors import BackendError, Failure

MAX_CONSECUTIVE_ERRORS = 200  # errors in a row after which a worker stops
# Failures that say something about the pair. Any other error may be everybody's.
_OF_THE_PAIR = (Failure.TOO_LONG, Failure.NO_TERMS)


class ErrorStreak:
    """Counter of consecutive errors that are not the fault of single pairs.

    Somebody should look before more is asked.
    """

    def __init__(self, limit: int) -> None:
        self.most = limit
        self.n = 0

    def count(self, reply: Reply) -> None:
        """Count a reply. Raises BackendError at the last error of so many."""
        if reply.state is not State.ERROR or reply.failure in _OF_THE_PAIR:
            self.n = 0
            return
        self.n += 1
        if self.n >= self.most:
            raise BackendError(f"{self.n} replies in a row were errors. The last: {reply.detail}")


class Grader(Protocol):
    """Interface of a judge at work in this process."""

    def replies(self, pairs: Iterator[Pair]) -> Iterator[Reply | None]:
        """Grade pairs as the iterator gives them, and yield each reply once, in any order.

        It takes from `pairs` only what it can work on at once, so that what a crash loses is small,
        and yields None about once a second while nothing comes, so that the caller can keep its lease.
        Whatever goes wrong with a pair is that pair's reply; raises BackendError only when no pair can
        be graded any more.
        """
        ...
