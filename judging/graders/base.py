"""What every grader is: pairs in, replies out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Protocol

from judging.grading.pairs import Failure, Pair, Reply, State


class GraderError(Exception):
    """No grader can go on: a sentence for the person who started the run."""


class Unavailable(GraderError):
    """The server did not answer for longer than its patience. The pairs in flight stay unjudged."""


class AnotherJudge(GraderError):
    """The server serves another model or template than the judge that was asked for."""


class OtherModelReplied(AnotherJudge):
    """A reply names its model `named`, which is not the one that was asked for."""

    def __init__(self, words: str, named: str) -> None:
        super().__init__(words)
        self.named = named


IN_VAIN = 200  # errors in a row after which a worker stops
# Failures that say something about the pair. Any other error may be everybody's.
_OF_THE_PAIR = (Failure.TOO_LONG, Failure.NO_TERMS)


class InVain:
    """Counts errors in a row that are not the pairs' own: somebody should look before more is asked."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.n = 0

    def look_at(self, reply: Reply) -> None:
        """Raises GraderError at the last error of so many."""
        if reply.state is not State.ERROR or reply.failure in _OF_THE_PAIR:
            self.n = 0
            return
        self.n += 1
        if self.n >= self.most:
            raise GraderError(f"{self.n} replies in a row were errors. The last: {reply.detail}")


class Grader(Protocol):
    """One judge at work in this process."""

    def replies(self, pairs: Iterator[Pair]) -> Iterator[Reply | None]:
        """Grade pairs as the iterator gives them, and yield each reply once, in any order.

        It takes from `pairs` only what it can work on at once, so that what a crash loses is small,
        and yields None about once a second while nothing comes, so that the caller can keep its lease.
        Whatever goes wrong with a pair is that pair's reply; raises GraderError only when no pair can
        be graded any more.
        """
        ...


# Changing a word of these changes the hash of every chat template.
_USER = {"role": "user", "content": "Does the text answer the question? Reply with a grade."}
_SYSTEM = {"role": "system", "content": "You grade texts."}
PLAIN = [_USER]
CONVERSATIONS = (PLAIN, [_SYSTEM, _USER])


def template_hash(tokens: Sequence[Sequence[int] | None]) -> str:
    """SHA-256, in hex, over the token ids of CONVERSATIONS; empty if those of the first are not known.

    Some templates have no place for a system message (None), and that is a property of theirs too.
    """
    return hashlib.sha256(json.dumps(tokens).encode()).hexdigest() if tokens[0] else ""
