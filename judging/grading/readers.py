"""Strict parsers: exactly one grade, alone or with quotations.

What they take and refuse is fixed by their names for ever: other rules are other readers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judging.grading.pairs import State
from judging.llm.errors import Failure


@dataclass(frozen=True, slots=True)
class Scale:
    """Grades and labels that a reply may use: grades ascending, labels in lower case.

    Where it is about several questions, `number` is the one whose grade is read, from 1, of `n`, and
    `is_cut` says that the reply was cut off before its end.
    """

    grades: Sequence[int]
    words: Mapping[str, int] = field(default_factory=dict)
    number: int = 1
    n: int = 1
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """Parsed reply: a grade exactly when its state is graded, else the failure.

    `evidence` are the quotations of a graded reply, in order, without their quotation marks. Nobody
    has looked yet whether the text holds them, or whether a grade above the lowest brings any. `place` is
    where the digits of the grade are in the reply, half-open, in code points; None where that is not known.
    """

    state: State
    grade: int | None = None
    failure: Failure | None = None
    evidence: tuple[str, ...] = ()
    place: tuple[int, int] | None = field(default=None, compare=False)

    def at(self, span: tuple[int, int]) -> Parsed:
        """Return the same with the span of its grade."""
        if self.grade is None:
            return self
        return Parsed(self.state, self.grade, self.failure, self.evidence, span)


# Quantifiers with a plus behind them never give back what they took: a reply of a megabyte is read
# once. Digits are 0 to 9 alone, as int() would also take those of other scripts.
AROUND = r"[\s\"'`“”‘’*_]*+"
_GRADE = re.compile(
    rf"{AROUND}(?:(?:the\s++)?(?:grade|rating|score|answer){AROUND}(?:[:=]|is\b){AROUND})?"
    rf"([0-9]++){AROUND}\.?{AROUND}",
    re.IGNORECASE,
)
# Signs, points and commas between digits belong to a number: 4.5 is one number, and no integer.
NUMBER = re.compile(r"(?:(?<!\w)[-−])?[0-9]++(?>(?:[.,][0-9]++)*)")
_QUOTATION = re.compile(r"(?:[-*•]\s*+)?[\"“](.*)[\"”][.,;]?")


def integer_1(reply: str, scale: Scale) -> Parsed:
    """Read exactly one grade, and nothing else.

    White space, quotation marks, marks of emphasis, one full stop at the end and one label in front
    ("Rating: 4", "The grade is 4") do not count. A grade is written as the rubric writes it, in the
    digits 0 to 9: "04" is out of range, as are "10" and "-1"; "４" and "④" are no grades. "4/5",
    "3 or 4" and "4 4" are several. "4.5" and "4,5" are one number and no integer, and an integer among
    words ("The grade is clearly 4, because ...") may count something else: all are NO_GRADE.
    """
    match = _GRADE.fullmatch(reply)
    if match is None:
        return unparseable(failure_of(reply, scale.grades))
    return grade_from_digits(match[1], scale).at(match.span(1))


def grade_from_digits(number: str, scale: Scale) -> Parsed:
    """Return the grade with these digits.

    Compared as text: int() refuses some thousand digits.
    """
    grade = next((grade for grade in scale.grades if str(grade) == number), None)
    return unparseable(Failure.OUT_OF_RANGE) if grade is None else Parsed(State.GRADED, grade)


def evidence_1(reply: str, scale: Scale) -> Parsed:
    """Read the grade on the first line, as in integer-1, then quotations, one a line.

    A quotation is in double quotation marks, straight or curved, with a bullet before it or not.
    Blank lines and empty quotations do not count. Any other line makes the reply unparseable, as it
    may take the grade back.
    """
    first, *lines = [line.strip() for line in reply.split("\n") if line.strip()] or [""]
    parsed = integer_1(first, scale)
    if parsed.grade is None or parsed.place is None:
        return parsed
    start = reply.index(first)
    quoted = [_QUOTATION.fullmatch(line) for line in lines]
    unquoted = [line for line, match in zip(lines, quoted, strict=True) if match is None]
    if unquoted:
        numbers = any(NUMBER.search(line) for line in unquoted)
        return unparseable(Failure.SEVERAL_INTEGERS if numbers else Failure.NO_GRADE)
    evidence = tuple(match[1].strip() for match in quoted if match and match[1].strip())
    span = (start + parsed.place[0], start + parsed.place[1])
    return Parsed(State.GRADED, parsed.grade, evidence=evidence, place=span)


def failure_of(reply: str, grades: Sequence[int]) -> Failure:
    numbers = NUMBER.finditer(reply)
    number = next(numbers, None)
    if number is None:
        return Failure.NO_GRADE
    if next(numbers, None) is not None:
        return Failure.SEVERAL_INTEGERS
    whole = number[0].lstrip("-−").isdecimal()
    if whole and number[0] not in map(str, grades):
        return Failure.OUT_OF_RANGE
    return Failure.NO_GRADE


def unparseable(failure: Failure) -> Parsed:
    return Parsed(State.UNPARSEABLE, failure=failure)
