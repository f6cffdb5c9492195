"""From a reply to one grade, or to the reason why there is none.

A parser is part of a judge's identity, so its name carries a version: who wants other rules adds a
parser and leaves these as they are. Nothing is guessed. A reply is a grade or it is not, and a number
that happens to stand among words is not one ("4 of the points are covered").
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from judging.grading.pairs import Failure, State


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says: a grade exactly when its state is graded, else why there is none.

    `evidence` are the quotations of a graded reply, in order, without their quotation marks. Nobody
    has looked yet whether the text holds them, or whether a grade above the lowest brings any.
    """

    state: State
    grade: int | None = None
    failure: Failure | None = None
    evidence: tuple[str, ...] = ()


# Quantifiers with a plus behind them never give back what they took: a reply of a megabyte is read
# once. Digits are 0 to 9 alone, as int() would also take those of other scripts.
_AROUND = r"[\s\"'`“”‘’*_]*+"
_GRADE = re.compile(
    rf"{_AROUND}(?:(?:the\s++)?(?:grade|rating|score|answer){_AROUND}(?:[:=]|is\b){_AROUND})?"
    rf"([0-9]++){_AROUND}\.?{_AROUND}",
    re.IGNORECASE,
)
# Signs, points and commas between digits belong to a number: 4.5 is one number, and no integer.
_NUMBER = re.compile(r"(?:(?<!\w)[-−])?[0-9]++(?:[.,][0-9]++)*+")
_QUOTATION = re.compile(r"(?:[-*•]\s*+)?[\"“](.*)[\"”][.,;]?")

# Only how a reply begins: a text about an apology may be quoted further down. Not more signs than
# these are looked at, which bounds the cost of a long reply.
_OPENING = 200
_CANNOT = (
    r"i(?: can't| cannot| can not| won't| will not| must decline to"
    r"|(?: am|'m) (?:unable|not able) to)"
)
_SORRY = r"(?:(?:i am|i'm) (?:very )?sorry|sorry|i apologi[sz]e|my apologies)\b"
_AS_AN_AI = r"(?:as an ai\b[^.,]*, ?)?"
_OF_THE_TASK = (
    r"(?:help|assist|comply|fulfill?|do (?:that|this)|provide|grade|rate|process|continue|engage"
    r"|discuss|respond)\b"
)
_REFUSAL = re.compile(
    rf"\W*(?:{_SORRY}\W*(?:but )?{_AS_AN_AI}{_CANNOT}\b"
    rf"|(?:unfortunately, )?{_AS_AN_AI}{_CANNOT} {_OF_THE_TASK})",
    re.IGNORECASE,
)


def parse(
    parser: str,
    reply: str,
    grades: Sequence[int],
    *,
    finish_reason: str | None,
    max_tokens: int,
    refusal: str | None = None,
) -> Parsed:
    """Read a reply by the rules of a parser, for a rubric of these grades.

    `finish_reason` and `refusal` are what the server says beside the words, None where it says nothing.
    Who asks for one token gets "length" with every reply, so it means a cut reply only where more were
    allowed, or where the reply may be the 1 of a 10. "abort" means that the server stopped halfway. A
    refusal in words is known by how it begins, in English; within one token there is none to see. Any
    string gives exactly one state. Raises KeyError for a parser that is unknown.
    """
    read = PARSERS[parser]
    if refusal or finish_reason == "content_filter" or _refuses(reply):
        return Parsed(State.REFUSED, failure=Failure.REFUSAL)
    if finish_reason == "abort" or (finish_reason == "length" and max_tokens > 1):
        return Parsed(State.TRUNCATED, failure=Failure.CUT)
    if not reply.strip():
        return _unparseable(Failure.EMPTY)
    parsed = read(reply, grades)
    if finish_reason == "length" and begins_another(parsed.grade, grades):
        return Parsed(State.TRUNCATED, failure=Failure.CUT)
    return parsed


def integer_1(reply: str, grades: Sequence[int]) -> Parsed:
    """Exactly one grade, and nothing else.

    White space, quotation marks, marks of emphasis, one full stop at the end and one label in front
    ("Rating: 4", "The grade is 4") do not count. A grade is written as the rubric writes it, in the
    digits 0 to 9: "04" is out of range, as are "10" and "-1"; "４" and "④" are no grades. "4/5",
    "3 or 4" and "4 4" are several. "4.5" and "4,5" are one number and no integer, and an integer among
    words ("The grade is clearly 4, because ...") may count something else: all are NO_GRADE.
    """
    match = _GRADE.fullmatch(reply)
    if match is None:
        return _unparseable(_why_not(reply, grades))
    # Compared as written: int() refuses a number of some thousand digits.
    grade = next((grade for grade in grades if str(grade) == match[1]), None)
    if grade is None:
        return _unparseable(Failure.OUT_OF_RANGE)
    return Parsed(State.GRADED, grade)


def evidence_1(reply: str, grades: Sequence[int]) -> Parsed:
    """The grade on the first line, as in integer-1, then quotations, each on a line of its own.

    A quotation is in double quotation marks, straight or curved, with a bullet before it or not.
    Blank lines and empty quotations do not count. Any other line makes the reply unparseable, as it
    may take the grade back.
    """
    first, *others = [line.strip() for line in reply.split("\n") if line.strip()] or [""]
    parsed = integer_1(first, grades)
    if parsed.grade is None:
        return parsed
    quoted = [_QUOTATION.fullmatch(line) for line in others]
    words = [line for line, match in zip(others, quoted, strict=True) if match is None]
    if words:
        numbers = any(_NUMBER.search(line) for line in words)
        return _unparseable(Failure.SEVERAL if numbers else Failure.NO_GRADE)
    evidence = tuple(match[1].strip() for match in quoted if match and match[1].strip())
    return Parsed(State.GRADED, parsed.grade, evidence=evidence)


def begins_another(grade: int | None, grades: Sequence[int]) -> bool:
    """Whether the digits of this grade are the first of another: 1, where there is a 10."""
    return grade is not None and any(
        other != grade and str(other).startswith(str(grade)) for other in grades
    )


PARSERS: Mapping[str, Callable[[str, Sequence[int]], Parsed]] = {
    "integer-1": integer_1,
    "evidence-1": evidence_1,
}


def _refuses(reply: str) -> bool:
    return _REFUSAL.match(reply[:_OPENING].replace("’", "'")) is not None


def _why_not(reply: str, grades: Sequence[int]) -> Failure:
    numbers = _NUMBER.finditer(reply)
    number = next(numbers, None)
    if number is None:
        return Failure.NO_GRADE
    if next(numbers, None) is not None:
        return Failure.SEVERAL
    whole = number[0].lstrip("-−").isdecimal()
    if whole and number[0] not in map(str, grades):
        return Failure.OUT_OF_RANGE
    return Failure.NO_GRADE


def _unparseable(failure: Failure) -> Parsed:
    return Parsed(State.UNPARSEABLE, failure=failure)
