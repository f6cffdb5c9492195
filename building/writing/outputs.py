"""Inputs, outputs and failures of a generation task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Failure(StrEnum):
    """Failures of a reply; FAILURES has the sentences for people."""

    EMPTY = "empty"
    REFUSED = "refused"
    NO_TAGS = "no_tags"
    CUT = "cut"
    TOO_FEW = "too_few"
    TOO_MANY = "too_many"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    COPIES = "copies"
    LOOPS = "loops"
    CITES_WITHOUT_CONTEXT = "cites_without_context"


FAILURES = {
    Failure.EMPTY: "The reply is empty.",
    Failure.REFUSED: "The writer refused.",
    Failure.NO_TAGS: "The output is not between the tags of the prompt.",
    Failure.CUT: "The reply was cut off before its first complete item.",
    Failure.TOO_FEW: "There are fewer outputs than requested.",
    Failure.TOO_MANY: "There are several outputs instead of one.",
    Failure.TOO_SHORT: "The output is too short.",
    Failure.TOO_LONG: "The output is too long.",
    Failure.COPIES: "The output copies a whole sentence of its source.",
    Failure.LOOPS: "The output repeats itself.",
    Failure.CITES_WITHOUT_CONTEXT: "The report cites passages, but had none.",
}


@dataclass(frozen=True)
class Source:
    """Input of a task; 0 for `n` and `words` means the task's default.

    `document` is the document or the summary; `passages` are (name, body) in the order of their ranks,
    cited by their number from 1; `have` are the questions that are there already. `words` is the length
    asked for, `max_words` the length at which a report is cut, 0 for none. `kind` is the type of the question
    that is wanted, and `statement` what it shall be made from, where it is made from one.
    """

    request: str = ""
    document: str = ""
    passages: tuple[tuple[str, str], ...] = ()
    existing: tuple[str, ...] = ()
    n: int = 0
    words: int = 0
    max_words: int = 0
    kind: str = ""
    statement: str = ""


@dataclass(frozen=True)
class Statement:
    """A report sentence, `body[start:end]` in code points, with its citation labels."""

    start: int
    end: int
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Product:
    """A generated text or question; `citations` are all statements of a report."""

    body: str
    flags: tuple[str, ...] = ()
    citations: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class ParsedReply:
    """Parsed reply: outputs, and the failure if there is one.

    What is whole is kept beside a failure too: of 10 questions the 6 that came, with `missing` = 4, how
    many of those asked for are still to be had. `detail` says in a sentence or two what happened, also
    to a reply without a failure of which something was left out.
    """

    products: tuple[Product, ...] = ()
    failure: Failure | None = None
    detail: str = ""
    missing: int = 0


def failed_reply(failure: Failure, missing: int, detail: str = "") -> ParsedReply:
    """Return the result of an unusable reply."""
    return ParsedReply((), failure, detail or FAILURES[failure], missing)
