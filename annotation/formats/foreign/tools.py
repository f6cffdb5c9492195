"""Shared parts of annotation tools' formats: a pair by name, with its grades and spans.

The name of a pair is TOPIC/QUESTION/KIND/SYSTEM/TEXT: the question by its position from 0, each
part percent-encoded. A tool stores this name with the pair, so that answers can be matched on
import.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote, unquote

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)

from annotation.formats.foreign import streamed
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source, by_name
from annotation.formats.left_out_rows import Part
from annotation.formats.records import (
    Name,
    RatingRow,
    Row,
    SpanRow,
    StoredText,
    WholeNumber,
    checked_name,
)
from annotation.formats.summary import Conversion
from annotation.formats.translation import Skipped, Translation

HUMAN, MODEL, BASELINE = "human", "model", "baseline"
SPANS = "nugget-spans"
"""What spans are called in a tool; the label of each is the rubric of its grade."""
QUOTES = "nugget-words"
"""Of spans that a place alone does not tell: JSON, a list of `_Words`."""
_PARTS = 5
_GRADE = re.compile(r"(?P<whole>[0-9]{1,4})(?:\.0+)?")
_QUESTION_INDEX = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True)
class Grading:
    """A grade by one rater for a pair under one rubric, with its spans."""

    rater: str
    kind: str
    rubric: str
    grade: int
    largest: int  # grade of the rubric
    spans: Sequence[SpanRow] = ()


@dataclass
class Pair:
    """A text and a question, by name and with their bodies, and all grades.

    A text may have no body.
    """

    topic: str
    place: int
    question: str
    kind: str
    system: str
    text: str
    body: str | None
    gradings: list[Grading] = field(default_factory=list)

    @property
    def name(self) -> str:
        parts = (self.topic, str(self.place), self.kind, self.system, self.text)
        return "/".join(escaped(part) for part in parts)

    def by_rater(self, *, people: bool) -> dict[str, list[Grading]]:
        """Return the grades of people, or of all others, by the rater's name."""
        by_name: dict[str, list[Grading]] = {}
        for grading in self.gradings:
            if (grading.kind == HUMAN) == people:
                by_name.setdefault(grading.rater, []).append(grading)
        return by_name

    @property
    def baselines(self) -> list[str]:
        return sorted({grading.rater for grading in self.gradings if grading.kind == BASELINE})


def escaped(part: str) -> str:
    """Percent-encode a part of a name or URL, so that no slash and no # ends it."""
    return quote(part, safe=":")


def _checked_pair(value: str) -> str:
    parts = [unquote(part) for part in value.split("/")]
    if len(parts) != _PARTS or not _QUESTION_INDEX.fullmatch(parts[1]):
        raise ValueError("must be TOPIC/QUESTION/KIND/SYSTEM/TEXT, the question by its place")
    topic, _, _, system, text = parts
    for name in (topic, text, system or topic):
        checked_name(name)
    return value


PairName = Annotated[StoredText, AfterValidator(_checked_pair)]


def grade_of(value: Any) -> int:
    """Parse a grade of a tool: a whole number (4, 4.0), or its digits.

    Raises ValueError for all else.
    """
    digits = str(value) if type(value) in (int, float) else value
    if isinstance(digits, str) and (match := _GRADE.fullmatch(digits)):
        return int(match["whole"])
    raise ValueError("must be a grade, in digits")


Grade = Annotated[int, BeforeValidator(grade_of)]
GradeOrLabels = int | tuple[str, ...]
"""A grade, or labels of a rubric by their words."""


def grade_or_label(value: Any) -> GradeOrLabels:
    """Return the grade that a choice stands for, or its words as the only label."""
    try:
        return grade_of(value)
    except ValueError:
        if isinstance(value, str) and value.strip():
            return (value.strip(),)
        raise


Choice = Annotated[GradeOrLabels, PlainValidator(grade_or_label)]


def rater_of(value: str | int) -> str:
    """Return a valid rater name from the name of a tool's account."""
    ascii_name = re.sub(r"[^\x00-\x7f]", lambda match: f"u{ord(match[0]):x}", str(value))
    return re.sub(r"[^\w-]+", "-", ascii_name, flags=re.ASCII)[:120]


# -- quotes that differ from the text at their offsets


class _StoredQuote(Row):
    """The quote of a file for the span at this position of the rubric's spans.

    `unlocated`: the quote of a span without offsets.
    """

    rubric: Name
    position: Annotated[WholeNumber, Field(ge=0)]
    words: StoredText
    unlocated: bool = False


_LIST = TypeAdapter(list[_StoredQuote])


def _checked_quotes(value: str) -> str:
    try:
        _LIST.validate_json(value or "[]")
    except ValidationError:
        raise ValueError("must be a JSON list of {rubric, position, words}, or empty") from None
    return value


QuotesText = Annotated[StoredText, AfterValidator(_checked_quotes)]


def located_spans(grading: Grading) -> Iterator[SpanRow]:
    """Return the spans that have offsets."""
    return (span for span in grading.spans if span.start is not None)


def quotes_json(gradings: Iterable[Grading]) -> str:
    """Return the quotes that differ from the text at their offsets as JSON, or ""."""
    stored = [
        _StoredQuote(
            rubric=grading.rubric,
            position=position,
            words=span.source_quote,
            unlocated=span.start is None,
        ).model_dump(exclude_defaults=True)
        for grading in gradings
        for position, span in enumerate(grading.spans)
        if span.source_quote
    ]
    return json.dumps(stored, ensure_ascii=False) if stored else ""


def _with_quotes(rubric: str, spans: Sequence[SpanRow], quotes: str) -> list[SpanRow]:
    """Return the spans with the quotes stored for them.

    Quotes of a span that has been changed are dropped.
    """
    merged = list(spans)
    for stored in _LIST.validate_json(quotes) if quotes else ():
        if stored.rubric != rubric:
            continue
        if stored.unlocated:
            merged.insert(stored.position, SpanRow(source_quote=stored.words))
        elif stored.position < len(merged):
            span = merged[stored.position]
            if span.quote.split() == stored.words.split():
                merged[stored.position] = span.model_copy(update={"source_quote": stored.words})
    return merged


# -- import


@dataclass
class Answers:
    """A rater's answers for a pair in a tool: grades by rubric, spans by labelled rubric."""

    pair: str
    rater: str
    kind: str
    grades: Mapping[str, GradeOrLabels]
    spans: Mapping[str, Sequence[SpanRow]]
    quotes: str = ""
    question: str | None = None

    def rows(self) -> Iterator[RatingRow | Skipped]:
        """Yield a row for each grade. Spans without a grade are counted."""
        topic, index, kind, system, text = (unquote(part) for part in self.pair.split("/"))
        for rubric, grade in self.grades.items():
            yield RatingRow.model_construct(
                rater=rater_of(self.rater),
                rater_kind=self.kind,
                rubric=rubric,
                topic=topic,
                question_index=int(index),
                question=self.question,
                text_kind=kind,
                system=system,
                text=text,
                grade=grade,
                spans=_with_quotes(rubric, self.spans.get(rubric, ()), self.quotes),
            )
        for rubric in self.spans.keys() - self.grades.keys():
            yield from [Skipped(Conversion.UNGRADED_WORDS)] * len(self.spans[rubric])


def reader(
    shape: type[Row],
    into: Callable[[Any], Iterable[RatingRow | Skipped]],
    fields: Mapping[str, str],
    pair: str,
    parts: Callable[[dict[str, Any]], Iterable[Part]],
    displayed_offsets: Callable[[str], Sequence[int]] | None = None,
) -> Callable[[File, Folder], Iterator[Source]]:
    """Return the reader of JSON Lines files (.jsonl), and arrays of the same objects (.json).

    `fields` maps our fields to theirs, for later errors, and `pair` is the one with the pair's
    name. `parts` splits an object into answers, each by one person.
    """
    fields = {**fields, **dict.fromkeys(("topic", "question_index", "text_kind", "text"), pair)}

    def sources(file: File, folder: Folder) -> Iterator[Source]:
        values = None if file.ends(".jsonl") else partial(streamed.items, names=("items",))
        is_ours = len(folder.files) > 1 and by_name(file.path, file.name)  # one of ours
        if file.ends(".jsonl", ".json") and not is_ours:
            translation = Translation(
                shape,
                into,
                values=values,
                fields=fields,
                displayed=displayed_offsets,
                parts=partial(_parts, parts),
            )
            yield file.source(Kind.RATINGS, translation)

    return sources


def _parts(parts: Callable[[dict[str, Any]], Iterable[Part]], value: Any) -> Iterable[Part]:
    return parts(value) if isinstance(value, dict) else (Part(value),)


def id_of(value: Any) -> str:
    """Return an id of a tool as words for a message; empty for what is none."""
    return str(value)[:250] if type(value) in (int, str) else ""


def lists_of(value: dict[str, Any], *names: str) -> bool:
    """Return whether these values are lists or missing; other errors are the item's."""
    values = [value.get(name) for name in names]
    return all(isinstance(item, list) for item in values if item is not None)
