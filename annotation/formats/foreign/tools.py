"""What the formats of annotation tools share: a pair under its name, and who graded it how, with which spans.

A pair is called TOPIC/QUESTION/KIND/SYSTEM/TEXT: the question by its place from 0, each part written as in an
address. A tool keeps this name with what it shows, so that what comes back is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, unquote

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError

from annotation.formats.foreign import streamed
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source, by_name
from annotation.formats.left_out import Part
from annotation.formats.records import Name, RatingRow, Row, SpanRow, Whole, Words, checked_name
from annotation.formats.summary import Mapped
from annotation.formats.translation import Told, Translation

HUMAN, MODEL, BASELINE = "human", "model", "baseline"
SPANS = "nugget-spans"
"""What spans are called in a tool; the label of each is the rubric of its grade."""
WORDS = "nugget-words"
"""Of spans that a place alone does not tell: JSON, a list of `_Words`."""
_PARTS = 5
_GRADE = re.compile(r"(?P<whole>[0-9]{1,4})(?:\.0+)?")
_PLACE = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True)
class Grading:
    """What one rater gave a pair under one rubric."""

    rater: str
    kind: str
    rubric: str
    grade: int
    largest: int  # grade of the rubric
    spans: Sequence[SpanRow] = ()


@dataclass
class Pair:
    """A text and a question, by their names and in their words, and all grades. A text may have no words."""

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
        """The grades of people, or of all others, by the rater's name."""
        by_name: dict[str, list[Grading]] = {}
        for grading in self.gradings:
            if (grading.kind == HUMAN) == people:
                by_name.setdefault(grading.rater, []).append(grading)
        return by_name

    @property
    def baselines(self) -> list[str]:
        return sorted({each.rater for each in self.gradings if each.kind == BASELINE})


def escaped(part: str) -> str:
    """A part of a name, or of an address, that no slash and no # ends."""
    return quote(part, safe=":")


def _checked_pair(value: str) -> str:
    parts = [unquote(part) for part in value.split("/")]
    if len(parts) != _PARTS or not _PLACE.fullmatch(parts[1]):
        raise ValueError("must be TOPIC/QUESTION/KIND/SYSTEM/TEXT, the question by its place")
    topic, _, _, system, text = parts
    for name in (topic, text, system or topic):
        checked_name(name)
    return value


PairName = Annotated[Words, AfterValidator(_checked_pair)]


def grade_of(value: Any) -> int:
    """A grade as a tool writes it: a whole number (4, 4.0), or its digits. Raises ValueError for all else."""
    digits = str(value) if type(value) in (int, float) else value
    if isinstance(digits, str) and (match := _GRADE.fullmatch(digits)):
        return int(match["whole"])
    raise ValueError("must be a grade, in digits")


Grade = Annotated[int, BeforeValidator(grade_of)]


def rater_of(value: str | int) -> str:
    """A rater called like an account of the tool, of the letters that names of raters have."""
    told_apart = re.sub(r"[^\x00-\x7f]", lambda match: f"u{ord(match[0]):x}", str(value))
    return re.sub(r"[^\w-]+", "-", told_apart, flags=re.ASCII)[:120]


# -- spans that a place alone does not tell


class _Words(Row):
    """Words as a file gave them: of the span at this place among its rubric's, or `unlocated`, of none."""

    rubric: Name
    position: Annotated[Whole, Field(ge=0)]
    words: Words
    unlocated: bool = False


_LIST = TypeAdapter(list[_Words])


def _checked_words(value: str) -> str:
    try:
        _LIST.validate_json(value or "[]")
    except ValidationError:
        raise ValueError("must be a JSON list of {rubric, position, words}, or empty") from None
    return value


WordsText = Annotated[Words, AfterValidator(_checked_words)]


def placed(grading: Grading) -> Iterator[SpanRow]:
    """The spans that have a place."""
    return (span for span in grading.spans if span.start is not None)


def words_of(gradings: Iterable[Grading]) -> str:
    """What is to be said of spans beside their places; nothing where the places say all."""
    told = [
        _Words(
            rubric=grading.rubric,
            position=position,
            words=span.source_quote,
            unlocated=span.start is None,
        ).model_dump(exclude_defaults=True)
        for grading in gradings
        for position, span in enumerate(grading.spans)
        if span.source_quote
    ]
    return json.dumps(told, ensure_ascii=False) if told else ""


def _with_words(rubric: str, spans: Sequence[SpanRow], words: str) -> list[SpanRow]:
    """The spans, with the words that were said of them. Words of a span that has been changed are let go."""
    whole = list(spans)
    for told in _LIST.validate_json(words) if words else ():
        if told.rubric != rubric:
            continue
        if told.unlocated:
            whole.insert(told.position, SpanRow(source_quote=told.words))
        elif told.position < len(whole):
            span = whole[told.position]
            if span.quote.split() == told.words.split():
                whole[told.position] = span.model_copy(update={"source_quote": told.words})
    return whole


# -- what came back


@dataclass
class Answers:
    """What one rater of a tool gave one pair: grades by rubric, and spans by the rubric that is their label."""

    pair: str
    rater: str
    kind: str
    grades: Mapping[str, int]
    spans: Mapping[str, Sequence[SpanRow]]
    words: str = ""
    question: str | None = None

    def rows(self) -> Iterator[RatingRow | Told]:
        """A row for each grade. Spans without one are counted."""
        topic, place, kind, system, text = (unquote(part) for part in self.pair.split("/"))
        for rubric, grade in self.grades.items():
            yield RatingRow.model_construct(
                rater=rater_of(self.rater),
                rater_kind=self.kind,
                rubric=rubric,
                topic=topic,
                question_index=int(place),
                question=self.question,
                text_kind=kind,
                system=system,
                text=text,
                grade=grade,
                spans=_with_words(rubric, self.spans.get(rubric, ()), self.words),
            )
        for rubric in self.spans.keys() - self.grades.keys():
            yield from [Told(Mapped.UNGRADED_WORDS)] * len(self.spans[rubric])


def reader(
    shape: type[Row],
    into: Callable[[Any], Iterable[RatingRow | Told]],
    fields: Mapping[str, str],
    pair: str,
    parts: Callable[[dict[str, Any]], Iterable[Part]],
    shown: Callable[[str], Sequence[int]] | None = None,
) -> Callable[[File, Folder], Iterator[Source]]:
    """What reads files of JSON lines (.jsonl), and arrays of the same objects (.json).

    `fields` are theirs by ours, for errors that come later, and `pair` is the one that holds the pair's name.
    `parts` are the answers of one object, each by one person.
    """
    fields = {**fields, **dict.fromkeys(("topic", "question_index", "text_kind", "text"), pair)}

    def sources(file: File, folder: Folder) -> Iterator[Source]:
        values = None if file.ends(".jsonl") else _listed
        beside = len(folder.files) > 1 and by_name(file.path, file.name)  # one of ours
        if file.ends(".jsonl", ".json") and not beside:
            made = Translation(
                shape, into, values=values, fields=fields, shown=shown, parts=partial(_parts, parts)
            )
            yield file.source(Kind.RATINGS, made)

    return sources


def _parts(parts: Callable[[dict[str, Any]], Iterable[Part]], value: Any) -> Iterable[Part]:
    return parts(value) if isinstance(value, dict) else (Part(value),)


def id_of(value: Any) -> str:
    """Return an id of a tool as words for a message; empty for what is none."""
    return str(value)[:250] if type(value) in (int, str) else ""


def lists_of(value: dict[str, Any], *names: str) -> bool:
    """Return whether these values are lists of objects, or are missing; else their errors are the item's."""
    given = [value.get(name) for name in names]
    return all(isinstance(each, list) for each in given if each is not None)


def _listed(path: Path) -> Iterator[tuple[int, Any]]:
    """The objects of an array, or of the `items` of an object."""
    return ((line, value) for line, name, value in streamed.values(path) if name in ("", "items"))
