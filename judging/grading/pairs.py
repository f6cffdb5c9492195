"""What goes into a grader and what comes out: pairs and replies. No database, no Django."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

RAW_LIMIT = 64_000  # characters of a reply that are kept: a runaway reply must not fill the table


class State(StrEnum):
    """What a reply turned out to be. Only a graded one carries a grade; none is ever below 0."""

    GRADED = "graded"
    UNPARSEABLE = "unparseable"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    ERROR = "error"


class Failure(StrEnum):
    """Why there is no grade: the kinds that a run counts apart."""

    EMPTY = "empty"
    NO_GRADE = "no_grade"  # no grade that stands alone: words, or a number that is no integer
    SEVERAL = "several"  # more than one integer
    WORDS_AFTER = "words_after"  # words after the grade, or around its JSON: they may take it back
    OUT_OF_RANGE = "out_of_range"  # an integer that is no level of the rubric
    CUT = "cut"  # the reply reached its length limit before it was whole
    REFUSAL = "refusal"
    NO_TERMS = "no_terms"  # the baseline: a question of stop words alone
    TOO_LONG = "too_long"  # the prompt does not fit the model
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER = "server"  # a 5xx or 429 that outlasted the retries
    REQUEST = "request"  # another 4xx
    MALFORMED = "malformed"  # not the JSON that the protocol promises
    OTHER_MODEL = "other_model"  # the reply says that another model wrote it
    OVERSIZED = "oversized"  # more bytes than any grade needs


@dataclass(frozen=True, slots=True)
class Pair:
    """A text and a question to grade it on, with what else a prompt may show.

    `request` is the topic's, `answer` the words that answer the question in the text. `questions` are all
    of the topic, where a judge is asked about them together, and the pair's is the `number`th of them.
    """

    text_id: int
    question_id: int
    text: str
    question: str
    request: str = ""
    answer: str = ""
    questions: tuple[str, ...] = ()
    number: int = 1  # from 1

    @property
    def is_of_several(self) -> bool:
        """Whether one message asks about more than this question."""
        return len(self.questions) > 1

    def alone(self) -> Pair:
        """The same pair, its question asked by itself."""
        return replace(self, questions=(self.question,), number=1)


def together(pairs: Iterator[Pair]) -> Iterator[tuple[Pair, ...]]:
    """The pairs that one message asks about: those of a text that follow each other, or each by itself.

    Where every pair is asked by itself, none is taken before the one that was given is done with.
    """
    waiting: list[Pair] = []
    for pair in pairs:
        if waiting and not _one_message(waiting[-1], pair):
            yield tuple(waiting)
            waiting = []
        if pair.is_of_several:
            waiting.append(pair)
        else:
            yield (pair,)
    if waiting:
        yield tuple(waiting)


def _one_message(pair: Pair, other: Pair) -> bool:
    """Whether it asks about both: two topics may ask the same of one text, each with its request."""
    return _asks(pair) == _asks(other)


def _asks(pair: Pair) -> tuple[int, tuple[str, ...], str]:
    return pair.text_id, pair.questions, pair.request


def shares(total: int, n: int) -> list[int]:
    """A whole number in n parts that are as equal as whole numbers can be, the larger ones first."""
    each, rest = divmod(total, n)
    return [each + (part < rest) for part in range(n)]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one pair.

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


@dataclass(frozen=True)
class Sampling:
    """How the model is asked to write. Part of what a judge is."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1
    seed: int | None = 0
    logprobs: bool = True
    extra: Mapping[str, object] = field(default_factory=dict)  # sent as they are; null leaves out

    @property
    def sent(self) -> dict[str, object]:
        """The parameters of a request, but for log-probabilities: what `extra` says comes last."""
        usual = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
        }
        return without_nulls({**usual, **self.extra})

    @property
    def samples(self) -> int:
        """How many replies to each message are asked for, by the `n` of a request."""
        n = self.extra.get("n")
        return n if isinstance(n, int) and n > 1 else 1


def without_nulls(parameters: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in parameters.items() if value is not None}


def storable(words: str) -> str:
    """Words as a database can keep them: no NUL, no lone surrogates, at most RAW_LIMIT characters."""
    words = words[:RAW_LIMIT].replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return words.encode("utf-8", "replace").decode("utf-8")
