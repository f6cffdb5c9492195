"""Input and output of graders: pairs and replies. No database, no Django."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from judging.llm.errors import Failure


class State(StrEnum):
    """State of a reply.

    Only a graded one carries a grade; none is ever below 0.
    """

    GRADED = "graded"
    UNPARSEABLE = "unparseable"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Pair:
    """A text and a question to grade it on, with what else a prompt may show.

    `request` is the topic's, `answer` the words that answer the question in the text. `questions` are all
    of the topic, where a judge is asked about them together, and the pair's is the `number`th of them.
    `repeat` tells requests about one pair apart: 0, but in a test of a judge.
    """

    text_id: int
    question_id: int
    text: str
    question: str
    request: str = ""
    answer: str = ""
    questions: tuple[str, ...] = ()
    number: int = 1  # from 1
    repeat: int = 0

    @property
    def has_several_questions(self) -> bool:
        """Return whether one message asks about more than this question."""
        return len(self.questions) > 1

    def alone(self) -> Pair:
        """Return the same pair, with its question asked by itself."""
        return replace(self, questions=(self.question,), number=1)


def group_by_message(pairs: Iterator[Pair]) -> Iterator[tuple[Pair, ...]]:
    """Group pairs by message: consecutive pairs of a text, or single pairs.

    Where every pair is asked by itself, none is taken before the one that was given is done with.
    """
    waiting: list[Pair] = []
    for pair in pairs:
        if waiting and not _one_message(waiting[-1], pair):
            yield tuple(waiting)
            waiting = []
        if pair.has_several_questions:
            waiting.append(pair)
        else:
            yield (pair,)
    if waiting:
        yield tuple(waiting)


def _one_message(pair: Pair, following: Pair) -> bool:
    """Return whether one message asks about both pairs.

    Two topics may ask the same of one text, each with its request.
    """
    return _asks(pair) == _asks(following)


def _asks(pair: Pair) -> tuple[int, tuple[str, ...], str, int]:
    return pair.text_id, pair.questions, pair.request, pair.repeat


def shares(total: int, n: int) -> list[int]:
    """Split a whole number into n parts as equal as possible, the larger ones first."""
    base, remainder = divmod(total, n)
    return [base + (part < remainder) for part in range(n)]


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a judge about one pair.

    `raw` are the words of the reply as they came, with what stands between think tags; `reasoning` is
    what the server told beside them. `detail` says in our words what went wrong.
    `probabilities` are those of the rubric's grades in ascending order, as the model gave them (not
    renormalised), None where the server did not tell. `label_mass` is the sum of those known, and
    `expected_grade` the mean of the grades weighted by them. `evidence` are the words that the reply
    quotes, not yet looked for in the text.
    """

    pair: Pair
    state: State
    grade: int | None = None
    failure: Failure | None = None
    raw: str = ""
    detail: str = ""
    prompt_hash: str = ""
    probabilities: tuple[float | None, ...] | None = None
    expected_grade: float | None = None
    label_mass: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    evidence: tuple[str, ...] = ()
    reasoning: str = ""

    def __post_init__(self) -> None:
        if (self.state is State.GRADED) != (self.grade is not None):
            raise ValueError("A reply has a grade exactly when it is graded.")
        if (self.state is State.GRADED) == (self.failure is not None):
            raise ValueError("A reply says why it has no grade, and only then.")
