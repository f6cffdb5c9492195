"""Readers of replies about all questions of a text at once: the grade of one of them.

The questions are numbered from 1 as the prompt numbered them, and a grade counts only under its number:
a model that leaves one out may have shifted the others, so a bare list must have them all. What is not
there is missing, and can be asked alone.
"""

import json
import re
from typing import Any

from judging.grading.lenient import TwiceError, grade_json_1, once, rating
from judging.grading.pairs import Failure
from judging.grading.readers import AROUND, NUMBER, Parsed, Scale, integer_1, unparseable

_LINE = re.compile(
    rf"[\s*_•-]*+(?:(?:question|q)[ .]?)?([1-9][0-9]{{0,4}}+){AROUND}(?:[:)=]|\.(?![0-9])){AROUND}(.*)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*+```\w*+\s*+")
_FENCED = re.compile(r"\s*+```\w*+\n(.*)\n\s*+```\s*+", re.DOTALL)
_NAME = re.compile(r"(?:question|q)?[ _]?([0-9]{1,5})", re.IGNORECASE | re.ASCII)
_NUMBERS = ("question", "number", "id", "q")
_GRADES = ("grade", "rating", "score")


def numbered_1(reply: str, scale: Scale) -> Parsed:
    """A line for each question: its number, then its grade as in integer-1 ("3: 4", "Q3. Rating: 4").

    Lines may have bullets and stand in a code fence, and one line that ends with a colon may stand
    before the first. Any other line leaves no grade at all, as it may take one back; so does a number
    of no question. A number that comes twice has none. One question alone needs no number.
    """
    if scale.n == 1 and (parsed := integer_1(reply, scale)).grade is not None:
        return parsed
    lines = [line for line in reply.split("\n") if line.strip() and not _FENCE.fullmatch(line)]
    if lines and lines[0].rstrip().endswith(":") and not NUMBER.search(lines[0]):
        lines = lines[1:]
    said: list[str] = []
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None or int(match[1]) > scale.n:
            return unparseable(Failure.NO_GRADE)
        if int(match[1]) == scale.number:
            said.append(match[2])
    if len(said) != 1:
        return unparseable(Failure.SEVERAL if said else Failure.NO_GRADE)
    return integer_1(said[0], scale)


def numbered_json_1(reply: str, scale: Scale) -> Parsed:
    """JSON with the grade of each question, and nothing around it but a code fence.

    An object of grades by number ({"1": 4, "q2": {"grade": 0, "reason": "..."}}), a list of objects with
    a question's number and its grade, rating or score ([{"question": 1, "grade": 4}]), or a list of as
    many grades as there are questions ([4, 0]). Each may stand alone in an object ({"grades": [...]}).
    Numbers of no question leave no grade at all. One question alone needs no number.
    """
    if scale.n == 1 and (parsed := grade_json_1(reply, scale)).grade is not None:
        return parsed
    fenced = _FENCED.fullmatch(reply)
    try:
        values = json.loads(fenced[1] if fenced else reply, object_pairs_hook=once)
    except TwiceError:
        return unparseable(Failure.SEVERAL)
    except (ValueError, RecursionError):
        return unparseable(Failure.NO_GRADE)
    if isinstance(values, dict) and len(values) == 1:
        [(name, only)] = values.items()
        values = only if isinstance(only, list | dict) and _number(name) is None else values
    by_number = _of_object(values) if isinstance(values, dict) else _of_list(values, scale.n)
    if by_number is None or not all(1 <= number <= scale.n for number, _ in by_number):
        return unparseable(Failure.NO_GRADE)
    said = [value for number, value in by_number if number == scale.number]
    if len(said) != 1:
        return unparseable(Failure.SEVERAL if said else Failure.NO_GRADE)
    return rating(said[0], scale)


def _of_object(values: dict[str, Any]) -> list[tuple[int, Any]] | None:
    """(number, grade) of each name, of which each is a number."""
    found = [(_number(name), _grade(value)) for name, value in values.items()]
    numbered = [(number, grade) for number, grade in found if number is not None]
    return numbered if len(numbered) == len(found) else None


def _of_list(values: Any, n: int) -> list[tuple[int, Any]] | None:
    if not isinstance(values, list):
        return None
    if not any(isinstance(value, dict) for value in values):
        return list(enumerate(values, 1)) if len(values) == n else None
    found = [_of_one(value) for value in values]
    numbered = [each for each in found if each is not None]
    return numbered if len(numbered) == len(found) else None


def _of_one(value: Any) -> tuple[int, Any] | None:
    """The number and the grade of an object about one question; None where the number is not clear."""
    numbers = [value[name] for name in _NUMBERS if name in value] if isinstance(value, dict) else []
    number = _number(numbers[0]) if len(numbers) == 1 else None
    return None if number is None else (number, _grade(value))


def _number(value: Any) -> int | None:
    """The number of a question, such as 3, "3" or "q3"."""
    words = "" if isinstance(value, bool) else str(value)
    match = _NAME.fullmatch(words)
    return int(match[1]) if match else None


def _grade(value: Any) -> Any:
    """What an object says as the grade, where it says one; else the value itself."""
    if not isinstance(value, dict):
        return value
    said = [value[name] for name in _GRADES if name in value]
    return said[0] if len(said) == 1 else None


def whole_lines(reply: str) -> str:
    """What a reply that was cut off says for certain: all but its last line."""
    return reply.rpartition("\n")[0]
