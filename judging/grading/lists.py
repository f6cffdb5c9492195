"""Parsers of replies about all questions of a text: the grade of one of them.

The questions are numbered from 1 as the prompt numbered them, and a grade counts only under its number:
a model that leaves one out may have shifted the others, so a bare list must have them all. What is not
there is missing, and can be asked alone.
"""

import json
import re
from typing import Any

from judging.grading.final import grade_json_2
from judging.grading.lenient import DuplicateKeyError, grade_json_1, once, rating, read_grade
from judging.grading.readers import AROUND, Parsed, Scale, integer_1, unparseable
from judging.llm.errors import Failure

_LINE = re.compile(
    rf"[\s*_•-]*+(?:(?:question|q)[ .]?)?([1-9][0-9]{{0,4}}+){AROUND}(?:[:)=]|\.(?![0-9])){AROUND}(.*)",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"[\s*_#]*+(?>(?:(?:a|all|answers?|are|as|assessments?|based|below|certainly|each|evaluations?|every|final|"
    r"follows|for|given|grades?|here(?:['’]s)?|in|is|its|list|my|of|okay|on|order|per|questions?|"
    r"ratings?|scores?|sure|text|the|their|these|to|with)\b[\s,!.*_]*+)+):[\s*_]*+",
    re.IGNORECASE,
)
_BEGINNINGS = "|".join("question"[:length] for length in range(8, 0, -1))
_BEGUN = re.compile(
    rf"[\s*_•-]*+(?>(?:(?:{_BEGINNINGS})[ .]?)?)[0-9]{{0,5}}+{AROUND}(?:[:=).]{AROUND}(.*))?",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*+```\w*+\s*+")
_FENCED = re.compile(r"\s*+```\w*+\n(.*)\n\s*+```\s*+", re.DOTALL)
_NAME = re.compile(r"(?:question|q)?[ _]?([0-9]{1,5})", re.IGNORECASE | re.ASCII)
_NUMBERS = ("question", "number", "id", "q")
_GRADE_KEY = re.compile(r"(?:final[ _])?(?:grade|rating|score)s?", re.IGNORECASE)
_REPLY_KEY = re.compile(
    r"(?:answer|assessment|evaluation|judge?ment|question|repl(?:y|ie)|response|result)s?",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W\d_]++")
_NUMBERED = re.compile(r"[0-9]\s*+[:=)]")


def numbered_1(reply: str, scale: Scale) -> Parsed:
    """Read a line for each question: its number, then its grade.

    The grade is written as in integer-1 ("3: 4", "Q3. Rating: 4"). Lines may have bullets and stand in
    a code fence, and one line that announces them in set words and ends with a colon ("Here are the
    grades:") may stand before the first. Any other line leaves no grade at all, as it may take one
    back; so does a number of no question, and a line with more than one word beside its number that is
    no grade. A number that comes twice has none. One question alone needs no number. Of a reply that
    was cut the last line does not count.
    """
    entries = _entries_of(reply, scale)
    if entries is None and scale.n == 1 and not scale.is_cut:
        return integer_1(reply, scale)
    if entries is None or len(entries) != 1:
        return unparseable(Failure.SEVERAL_INTEGERS if entries else Failure.NO_GRADE)
    return integer_1(entries[0], scale)


def _entries_of(reply: str, scale: Scale) -> list[str] | None:
    """Return the entries under the number that is read; None if a line is about other things."""
    lines = reply.split("\n")
    last = lines.pop() if scale.is_cut else ""
    if not _is_begun(last, scale):
        return None
    lines = [line for line in lines if line.strip() and not _FENCE.fullmatch(line)]
    if lines and _ANNOUNCES.fullmatch(lines[0]):
        lines = lines[1:]
    matches = [_LINE.fullmatch(line) for line in lines]
    numbered = [(int(match[1]), match[2]) for match in matches if match]
    if len(numbered) < len(lines) or any(
        number > scale.n or _is_about_more(entry, scale) for number, entry in numbered
    ):
        return None
    begun = _LINE.fullmatch(last)
    if begun and int(begun[1]) == scale.number:
        return []
    return [entry for number, entry in numbered if number == scale.number]


def _is_about_more(entry: str, scale: Scale) -> bool:
    """Return whether an entry is no grade, and may say something of another question."""
    if integer_1(entry, scale).grade is not None:
        return False
    return len(_TOKEN.findall(entry)) > 1 or _NUMBERED.search(entry) is not None


def _is_begun(line: str, scale: Scale) -> bool:
    """Return whether the last line of a cut reply is the beginning of a numbered line."""
    match = _BEGUN.fullmatch(line)
    return match is not None and not _is_about_more(match[1] or "", scale)


def numbered_json_1(reply: str, scale: Scale) -> Parsed:
    """Read JSON with the grade of each question, with nothing around but a code fence.

    An object of grades by number ({"1": 4, "q2": {"grade": 0, "reason": "..."}}), a list of objects with
    a question's number and its grade, rating or score ([{"question": 1, "grade": 4}]), or a list of as
    many grades as there are questions ([4, 0]). Each may stand alone in an object ({"grades": [...]},
    {"results": [{...}]}), the last in one of that name. Numbers of no question leave no grade at all,
    and a grade that another number beside it says again is none, as in grade-json-1. One question
    alone needs no number.
    """
    if scale.n == 1 and not scale.is_cut:
        parsed = grade_json_1(reply, scale)
        if parsed.grade is not None:
            return parsed
    return _numbered_json(reply, scale)


def numbered_json_2(reply: str, scale: Scale) -> Parsed:
    """Read as numbered-json-1, and of a single question as grade-json-2: with no words around."""
    if scale.n == 1 and not scale.is_cut:
        parsed = grade_json_2(reply, scale)
        if parsed.grade is not None:
            return parsed
    return _numbered_json(reply, scale)


def _numbered_json(reply: str, scale: Scale) -> Parsed:
    fenced = _FENCED.fullmatch(reply)
    try:
        values = json.loads(fenced[1] if fenced else reply, object_pairs_hook=once)
    except DuplicateKeyError:
        return unparseable(Failure.SEVERAL_INTEGERS)
    except (ValueError, RecursionError):
        return unparseable(Failure.NO_GRADE)
    values = _unwrapped(values)
    by_number = _of_object(values) if isinstance(values, dict) else _of_list(values, scale.n)
    if by_number is None or not all(1 <= number <= scale.n for number, _ in by_number):
        return unparseable(Failure.NO_GRADE)
    entries = [value for number, value in by_number if number == scale.number]
    if len(entries) != 1:
        return unparseable(Failure.SEVERAL_INTEGERS if entries else Failure.NO_GRADE)
    return (
        read_grade(entries[0], scale) if isinstance(entries[0], dict) else rating(entries[0], scale)
    )


def _unwrapped(values: Any) -> Any:
    """Return the only value of an object, if its key says that it holds the grades."""
    if not isinstance(values, dict) or len(values) != 1:
        return values
    [(name, only)] = values.items()
    is_bare = isinstance(only, list) and not any(isinstance(value, dict) for value in only)
    if isinstance(only, list | dict) and (
        _GRADE_KEY.fullmatch(name) or (_REPLY_KEY.fullmatch(name) and not is_bare)
    ):
        return only
    return values


def _of_object(values: dict[str, Any]) -> list[tuple[int, Any]] | None:
    """Return (number, value) of each key of an object; None if it is not about numbers.

    Each key must be a number, and no value may name another.
    """
    numbered = [(_number(name), value) for name, value in values.items()]
    entries = [(number, value) for number, value in numbered if number is not None]
    if len(entries) < len(numbered) or any(_numbers(value) - {number} for number, value in entries):
        return None
    return entries


def _of_list(values: Any, n: int) -> list[tuple[int, Any]] | None:
    if not isinstance(values, list):
        return None
    if not any(isinstance(value, dict) for value in values):
        return list(enumerate(values, 1)) if len(values) == n else None
    numbers = [_numbers(value) for value in values]
    if any(len(of_one) != 1 for of_one in numbers):
        return None
    return [
        (number, value) for of_one, value in zip(numbers, values, strict=True) for number in of_one
    ]


def _numbers(value: Any) -> set[int]:
    """Return the numbers of questions that an object names."""
    numbers = (
        [_number(value[name]) for name in _NUMBERS if name in value]
        if isinstance(value, dict)
        else []
    )
    return {number for number in numbers if number is not None}


def _number(value: Any) -> int | None:
    """Parse the number of a question, such as 3, "3" or "q3"."""
    text = "" if isinstance(value, bool) else str(value)
    match = _NAME.fullmatch(text)
    return int(match[1]) if match else None
