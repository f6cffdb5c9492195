"""Parsers whose grade must end the reply, or whose JSON must be the whole reply.

A model that goes on after its grade may take the grade back in any language, and no list of words can
tell. Such a reply has no grade: it is counted as words after the grade, for a person to read.
"""

import json
import re
from typing import Any

from judging.grading.lenient import (
    ANNOUNCES,
    BEFORE_A_LABEL,
    LABELLED,
    OBJECT,
    SENTENCE,
    DuplicateKeyError,
    first_line_grade,
    label_grade,
    n_of_m_1,
    once,
    read_grade,
    read_rating,
    with_span,
)
from judging.grading.readers import Parsed, Scale, failure_of, unparseable
from judging.llm.errors import Failure
from judging.llm.reasoning import holds_a_tag

_FENCED = re.compile(r"\s*+```\w*+[ \t]*+\n(.*)\n\s*+```\s*+", re.DOTALL)
_ENDED = re.compile(r"(?:[.!?;:)\]\"'”’*_。！？]|\n\s*)\s*\Z")  # a sentence, or a paragraph


def reason_2(reply: str, scale: Scale) -> Parsed:
    """Read the grade alone, or after a reason: on the last line or in the last sentence.

    In a sentence it needs its label. The grade is written as in n-of-m-1 ("4", "Final score: 4/5"). An
    earlier label with another grade leaves none. Words after the grade are Failure.WORDS_AFTER,
    whatever they say.
    """
    whole = n_of_m_1(reply, scale)
    if whole.grade is not None:
        return whole
    if holds_a_tag(reply) or OBJECT.search(reply):
        return unparseable(failure_of(reply, scale.grades))
    body = reply.rstrip()
    start = max(body.rfind("\n") + 1, 0)
    parsed, before = n_of_m_1(body[start:], scale), body[:start]
    is_labelled = LABELLED.search(body, start) is not None
    if parsed.grade is None:
        start = max((match.end() for match in SENTENCE.finditer(body)), default=0)
        parsed, before = n_of_m_1(body[start:], scale), body[:start]
        is_labelled = LABELLED.search(body, start) is not None
        if not is_labelled:
            parsed = unparseable(Failure.NO_GRADE)
    if parsed.grade is None:
        has_grade = LABELLED.search(reply) or first_line_grade(reply)
        return unparseable(
            Failure.TEXT_AFTER_GRADE if has_grade else failure_of(reply, scale.grades)
        )
    if not is_labelled and not _ENDED.search(before):
        return unparseable(Failure.NO_GRADE)  # "The text deserves less than\n4"
    if ANNOUNCES.search(before.rstrip()) and not _announces_a_grade(before, body[start:], scale):
        return unparseable(Failure.NO_GRADE)
    if any(match[1] != str(parsed.grade) for match in _labelled(before)):
        return unparseable(Failure.SEVERAL_INTEGERS)
    if first_line_grade(before) not in (None, str(parsed.grade)):
        return unparseable(Failure.SEVERAL_INTEGERS)
    if parsed.place:
        return parsed.at((start + parsed.place[0], start + parsed.place[1]))
    return parsed


def _announces_a_grade(before: str, last: str, scale: Scale) -> bool:
    """Return True if the line before the grade is its label: "**Final rating:**"."""
    line = before.rstrip().rpartition("\n")[2]
    return n_of_m_1(f"{line}\n{last}", scale).grade is not None


def _labelled(before: str) -> list[re.Match[str]]:
    """Return labelled grades of the reply's own, each at the beginning of a sentence."""
    matches = []
    for match in LABELLED.finditer(before):
        sentence = SENTENCE.split(before[: match.start()])[-1]
        if BEFORE_A_LABEL.fullmatch(sentence):
            matches.append(match)
    return matches


def rating_json_2(reply: str, scale: Scale) -> Parsed:
    """Read the rating of a JSON object with an `evaluation` or a `reason`, and nothing else.

    It may stand in a code fence. A rating is 5, 5.0 or "5"; 3.5 is none. What the reason says does not count.
    """
    values = _only_object(reply)
    if isinstance(values, Failure):
        return unparseable(values)
    if "rating" not in values or not ({"evaluation", "reason"} & values.keys()):
        return unparseable(Failure.NO_GRADE)
    return with_span(reply, read_rating(values, "rating", scale))


def grade_json_2(reply: str, scale: Scale) -> Parsed:
    """Read exactly one of `grade`, `rating` and `score` of a JSON object.

    Otherwise as rating-json-2 does.
    """
    values = _only_object(reply)
    return (
        unparseable(values)
        if isinstance(values, Failure)
        else with_span(reply, read_grade(values, scale))
    )


def label_json_2(reply: str, scale: Scale) -> Parsed:
    """Read the rubric's label under `label_name` or `label` of a JSON object.

    Nothing else may stand around the object.
    """
    values = _only_object(reply)
    return unparseable(values) if isinstance(values, Failure) else label_grade(values, scale)


def _only_object(reply: str) -> dict[str, Any] | Failure:
    """Return the JSON object that is the whole reply, fenced or not; else the failure."""
    fenced = _FENCED.fullmatch(reply)
    text = fenced[1] if fenced else reply
    try:
        values = json.loads(text, object_pairs_hook=once)
    except DuplicateKeyError:
        return Failure.SEVERAL_INTEGERS
    except (ValueError, RecursionError):
        return Failure.TEXT_AFTER_GRADE if _holds_an_object(text) else Failure.NO_GRADE
    return values if isinstance(values, dict) else Failure.NO_GRADE


def _holds_an_object(text: str) -> bool:
    """Return True if a JSON object stands among other words."""
    start = text.find("{")
    try:
        return start >= 0 and isinstance(json.JSONDecoder().raw_decode(text, start)[0], dict)
    except (ValueError, RecursionError):
        return False
