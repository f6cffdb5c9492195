"""Readers of replies about all questions of a text at once: the grade of one of them.

The questions are numbered from 1 as the prompt numbered them, and a grade counts only under its number:
a model that leaves one out may have shifted the others, so a bare list must have them all. What is not
there is missing, and can be asked alone.
"""

import json
import re
from typing import Any

from judging.grading.final import grade_json_2
from judging.grading.lenient import TwiceError, grade_json_1, graded, once, rating
from judging.grading.pairs import Failure
from judging.grading.readers import AROUND, Parsed, Scale, integer_1, unparseable

_LINE = re.compile(
    rf"[\s*_•-]*+(?:(?:question|q)[ .]?)?([1-9][0-9]{{0,4}}+){AROUND}(?:[:)=]|\.(?![0-9])){AROUND}(.*)",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"[\s*_#]*+(?:(?:a|all|answers?|are|as|assessments?|based|below|certainly|each|evaluations?|every|final|"
    r"follows|for|given|grades?|here(?:['’]s)?|in|is|its|list|my|of|okay|on|order|per|questions?|"
    r"ratings?|scores?|sure|text|the|their|these|to|with)\b[\s,!.*_]*+)++:[\s*_]*+",
    re.IGNORECASE,
)
_BEGINNINGS = "|".join("question"[:length] for length in range(8, 0, -1))
_BEGUN = re.compile(
    rf"[\s*_•-]*+(?:(?:{_BEGINNINGS})[ .]?)?+[0-9]{{0,5}}+{AROUND}(?:[:=).]{AROUND}(.*))?",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*+```\w*+\s*+")
_FENCED = re.compile(r"\s*+```\w*+\n(.*)\n\s*+```\s*+", re.DOTALL)
_NAME = re.compile(r"(?:question|q)?[ _]?([0-9]{1,5})", re.IGNORECASE | re.ASCII)
_NUMBERS = ("question", "number", "id", "q")
_OF_GRADES = re.compile(r"(?:final[ _])?(?:grade|rating|score)s?", re.IGNORECASE)
_OF_ALL = re.compile(
    r"(?:answer|assessment|evaluation|judge?ment|question|repl(?:y|ie)|response|result)s?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]++")
_NUMBERED = re.compile(r"[0-9]\s*+[:=)]")


def numbered_1(reply: str, scale: Scale) -> Parsed:
    """A line for each question: its number, then its grade as in integer-1 ("3: 4", "Q3. Rating: 4").

    Lines may have bullets and stand in a code fence, and one line that announces them in set words and
    ends with a colon ("Here are the grades:") may stand before the first. Any other line leaves no
    grade at all, as it may take one back; so does a number of no question, and a line with more than
    one word beside its number that is no grade. A number that comes twice has none. One question alone
    needs no number. Of a reply that was cut the last line does not count.
    """
    said = _said(reply, scale)
    if said is None and scale.n == 1 and not scale.is_cut:
        return integer_1(reply, scale)
    if said is None or len(said) != 1:
        return unparseable(Failure.SEVERAL if said else Failure.NO_GRADE)
    return integer_1(said[0], scale)


def _said(reply: str, scale: Scale) -> list[str] | None:
    """What stands under the number that is read, each time; None where a line is about something else."""
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
        number > scale.n or _is_about_more(words, scale) for number, words in numbered
    ):
        return None
    begun = _LINE.fullmatch(last)
    if begun and int(begun[1]) == scale.number:
        return []
    return [words for number, words in numbered if number == scale.number]


def _is_about_more(words: str, scale: Scale) -> bool:
    """Whether words under a number are no grade, and may say something of another question."""
    if integer_1(words, scale).grade is not None:
        return False
    return len(_WORD.findall(words)) > 1 or _NUMBERED.search(words) is not None


def _is_begun(line: str, scale: Scale) -> bool:
    """Whether the last line of a reply that was cut is the beginning of one with a number."""
    match = _BEGUN.fullmatch(line)
    return match is not None and not _is_about_more(match[1] or "", scale)


def numbered_json_1(reply: str, scale: Scale) -> Parsed:
    """JSON with the grade of each question, and nothing around it but a code fence.

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
    """The same, and of one question alone as in grade-json-2: with no words around."""
    if scale.n == 1 and not scale.is_cut:
        parsed = grade_json_2(reply, scale)
        if parsed.grade is not None:
            return parsed
    return _numbered_json(reply, scale)


def _numbered_json(reply: str, scale: Scale) -> Parsed:
    fenced = _FENCED.fullmatch(reply)
    try:
        values = json.loads(fenced[1] if fenced else reply, object_pairs_hook=once)
    except TwiceError:
        return unparseable(Failure.SEVERAL)
    except (ValueError, RecursionError):
        return unparseable(Failure.NO_GRADE)
    values = _unwrapped(values)
    by_number = _of_object(values) if isinstance(values, dict) else _of_list(values, scale.n)
    if by_number is None or not all(1 <= number <= scale.n for number, _ in by_number):
        return unparseable(Failure.NO_GRADE)
    said = [value for number, value in by_number if number == scale.number]
    if len(said) != 1:
        return unparseable(Failure.SEVERAL if said else Failure.NO_GRADE)
    return graded(said[0], scale) if isinstance(said[0], dict) else rating(said[0], scale)


def _unwrapped(values: Any) -> Any:
    """What stands alone in an object, where its name says that it is the grades."""
    if not isinstance(values, dict) or len(values) != 1:
        return values
    [(name, only)] = values.items()
    is_bare = isinstance(only, list) and not any(isinstance(value, dict) for value in only)
    if isinstance(only, list | dict) and (
        _OF_GRADES.fullmatch(name) or (_OF_ALL.fullmatch(name) and not is_bare)
    ):
        return only
    return values


def _of_object(values: dict[str, Any]) -> list[tuple[int, Any]] | None:
    """(number, what is said) of each name, of which each is a number, and what is said of no other."""
    numbered = [(_number(name), value) for name, value in values.items()]
    found = [(number, value) for number, value in numbered if number is not None]
    if len(found) < len(numbered) or any(_numbers(value) - {number} for number, value in found):
        return None
    return found


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
    """The numbers of questions that an object names."""
    named = (
        [_number(value[name]) for name in _NUMBERS if name in value]
        if isinstance(value, dict)
        else []
    )
    return {number for number in named if number is not None}


def _number(value: Any) -> int | None:
    """The number of a question, such as 3, "3" or "q3"."""
    words = "" if isinstance(value, bool) else str(value)
    match = _NAME.fullmatch(words)
    return int(match[1]) if match else None
