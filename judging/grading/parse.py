"""Parsing of a reply into one grade, or the reason why there is none.

A parser is part of a judge's identity, so its name carries a version: who wants other rules adds a
parser and leaves these as they are. Nothing is guessed. A reply is a grade or it is not, and a number
that happens to stand among words is not one ("4 of the points are covered").
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from judging.grading import final, lenient, lists, readers
from judging.grading.pairs import State
from judging.grading.readers import Parsed, Scale, unparseable
from judging.llm.errors import Failure
from judging.llm.reasoning import split_reasoning

__all__ = ["LABEL_PARSERS", "PARSERS", "Parsed", "Parser", "begins_another", "labels_of", "parse"]


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


@dataclass(frozen=True, slots=True)
class Parser:
    """Parser that a name stands for, with its description for people.

    `is_literal`: it reads whatever came, a cut reply and a refusal too, as the code did that it is
    named for. `sets_thinking_apart`: what a model thinks between tags is no part of its reply.
    `of_several`: it reads replies about all questions of a text; of a cut one, what is whole.
    `superseded_by` is the parser for new judges: this one knows words that take a grade back by an English
    list.
    """

    read: Callable[[str, Scale], Parsed]
    says: str
    is_literal: bool = False
    sets_thinking_apart: bool = True
    reads_several: bool = False
    superseded_by: str = ""

    def title(self, name: str) -> str:
        """Return the name with a description, for a form."""
        hint = f" (superseded by {self.superseded_by})" if self.superseded_by else ""
        return f"{name}: {self.says}{hint}"


def parse(
    parser: str,
    reply: str,
    grades: Sequence[int],
    *,
    finish_reason: str | None,
    max_tokens: int,
    refusal: str | None = None,
    words: Mapping[str, int] | None = None,
    number: int = 1,
    n: int = 1,
) -> Parsed:
    """Parse a reply with a named parser, for a rubric's grades and labels (`words`).

    `finish_reason` and `refusal` are what the server says beside the words, None where it says nothing.
    Who asks for one token gets "length" with every reply, so it means a cut reply only where more were
    allowed, or are needed for several questions, or where the reply may be the 1 of a 10. "abort" means
    that the server stopped halfway. A refusal in words is known by how it begins, in English; within
    one token there is none to see. Any string gives exactly one state. Of a reply about `n` questions
    the grade of the `number`th is read. Raises KeyError for a parser that is unknown.
    """
    rules = PARSERS[parser]
    scale = Scale(grades, words or {}, number, n)
    if rules.is_literal:
        return rules.read(reply, scale)
    whole = reply
    if rules.sets_thinking_apart:
        reply = split_reasoning(reply)[1]
    if refusal or finish_reason == "content_filter" or _refuses(reply):
        return Parsed(State.REFUSED, failure=Failure.REFUSAL)
    has_room = max_tokens > 1 or rules.reads_several
    if finish_reason == "abort" or (finish_reason == "length" and has_room):
        scale = replace(scale, is_cut=True)
        if rules.reads_several and (parsed := rules.read(reply, scale)).grade is not None:
            return parsed
        return Parsed(State.TRUNCATED, failure=Failure.CUT)
    if not reply.strip():
        return unparseable(Failure.EMPTY)
    parsed = rules.read(reply, scale)
    start = len(whole) - len(reply)
    if parsed.place and start:
        parsed = parsed.at((start + parsed.place[0], start + parsed.place[1]))
    if finish_reason == "length" and begins_another(parsed.grade, grades):
        return Parsed(State.TRUNCATED, failure=Failure.CUT)
    return parsed


def begins_another(grade: int | None, grades: Sequence[int]) -> bool:
    """Return whether the digits of this grade begin those of another: 1, where there is a 10."""
    return grade in _beginnings(tuple(grades))


@lru_cache(maxsize=256)
def _beginnings(grades: tuple[int, ...]) -> frozenset[int]:
    """Return the grades whose digits begin those of another.

    Cached, as a scale gives the same for every reply.
    """
    return frozenset(
        grade
        for grade in grades
        if any(longer != grade and str(longer).startswith(str(grade)) for longer in grades)
    )


def labels_of(levels: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Return the one-word labels of a rubric's levels in lower case, with their grades.

    Only a label that is one word, or several joined by hyphens or underscores, is such a word; one
    that two levels share is none. A space between its parts is the same word: "partial support".
    """
    by_label: dict[str, list[int]] = {}
    for grade, label in levels:
        if _LABEL_TOKEN.fullmatch(label.strip()):
            by_label.setdefault(lenient.normalize_label(label), []).append(grade)
    return {name: grades[0] for name, grades in by_label.items() if len(grades) == 1}


_LABEL_TOKEN = re.compile(r"[^\W\d_]\w*+(?>(?:-\w++)*)")

PARSERS: Mapping[str, Parser] = {
    "integer-1": Parser(readers.integer_1, "one grade and nothing else", sets_thinking_apart=False),
    "evidence-1": Parser(
        readers.evidence_1, "a grade, then quotations of the text", sets_thinking_apart=False
    ),
    "after-think-1": Parser(readers.integer_1, "integer-1 on what follows the model's thinking"),
    "n-of-m-1": Parser(lenient.n_of_m_1, "one grade in a few set words, such as 4/5 or (4)"),
    "reason-2": Parser(final.reason_2, "a grade that ends the reply, alone or after a reason"),
    "rating-json-2": Parser(
        final.rating_json_2, "only a JSON object with a rating and its evaluation or reason"
    ),
    "grade-json-2": Parser(
        final.grade_json_2,
        "only a JSON object with a grade, rating or score; a reason may be missing",
    ),
    "word-1": Parser(lenient.word_1, "one of the rubric's words, such as vital"),
    "label-json-2": Parser(final.label_json_2, "only a JSON object whose label is such a word"),
    "numbered-1": Parser(
        lists.numbered_1, "a line with number and grade for each of {questions}", reads_several=True
    ),
    "numbered-json-2": Parser(
        lists.numbered_json_2,
        "JSON with number and grade of each of {questions}",
        reads_several=True,
    ),
    "first-digit-1": Parser(
        lenient.first_digit_1,
        "the first digit anywhere, as CRUX's authors read: a 10 is 1",
        is_literal=True,
        sets_thinking_apart=False,
    ),
    "reason-1": Parser(
        lenient.reason_1,
        "a labelled grade, and a reason before or after it",
        superseded_by="reason-2",
    ),
    "rating-json-1": Parser(
        lenient.rating_json_1,
        "a JSON object with a rating and its evaluation or reason, among words",
        superseded_by="rating-json-2",
    ),
    "grade-json-1": Parser(
        lenient.grade_json_1,
        "a JSON object with a grade, rating or score, among words",
        superseded_by="grade-json-2",
    ),
    "label-json-1": Parser(
        lenient.label_json_1,
        "a JSON object whose label is a word of the rubric, among words",
        superseded_by="label-json-2",
    ),
    "numbered-json-1": Parser(
        lists.numbered_json_1,
        "JSON with number and grade of each of {questions}; of one, among words",
        reads_several=True,
        superseded_by="numbered-json-2",
    ),
}
"""By name. The first is the default."""

LABEL_PARSERS = (
    "word-1",
    "label-json-2",
    "label-json-1",
)  # those that read the rubric's words and no grades


def _refuses(reply: str) -> bool:
    return _REFUSAL.match(reply[:_OPENING].replace("’", "'")) is not None
