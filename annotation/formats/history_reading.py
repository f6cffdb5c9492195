"""Reader of text_history.jsonl: versions of stored texts and questions, with dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from annotation.formats.highlights import spans_from_rows
from annotation.formats.history_rows import (
    CitationRow,
    HadRow,
    Positions,
    RatedRow,
    SupersededRow,
    TextRef,
    VersionRow,
)
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import SpanRow
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.models import Document, Text, Version, digest
from annotation.models.rating import Exposure
from annotation.origins import origin
from annotation.plurals import n_of
from annotation.text.spans import SpanError

_SPAN = ("start", "end", "quote", "source_quote", "located")
Json = dict[str, Any]


class _LineError(Exception):
    """An error in a line, with its field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def read(target: Target, source: Source) -> None:
    """Create missing versions. A stored one must have the same body."""
    reader = _Reader(target, source)
    for line, row in rows(target, source, VersionRow):
        try:
            reader.read(line, row)
        except _LineError as error:
            target.problem(source, line, error.field, str(error))


class _Reader:
    def __init__(self, target: Target, source: Source) -> None:
        self.target = target
        self.source = source
        self.summary = target.summary.file(source.name)
        self.line = 0
        self.texts: dict[tuple[str, str, str], int] = {}
        self.there: dict[tuple[str, int], dict[int, str]] = {}
        versions = Version.objects.filter(dataset=target.dataset)
        for text, question, number, body in versions.values_list(
            "text_id", "question_id", "number", "body"
        ):
            entity = ("text", text) if text else ("question", question)
            self.there.setdefault(entity, {})[number] = body

    def read(self, line: int, row: VersionRow) -> None:
        self.line = line
        entity = self._entity(row)
        numbers = self.there.setdefault(entity, {})
        if row.number in numbers:
            if numbers[row.number] != row.body:
                raise _LineError("body", f"version {row.number} has other words here")
            self.summary.unchanged += 1
            return
        if row.number != len(numbers) + 1:
            raise _LineError(
                "number", f"expected {len(numbers) + 1}, the next version, not {row.number}"
            )
        version = Version(
            dataset=self.target.dataset,
            **{f"{entity[0]}_id": entity[1]},
            number=row.number,
            body=row.body,
            why=row.why,
            counts=row.counts,
            n_ratings=row.n_ratings,
            author=row.by,
            set_aside=[
                self._superseded(f"superseded.{i}", superseded, row)
                for i, superseded in enumerate(row.superseded)
            ],
            citations=self._citations("citations", row.citations),
            had=self._had(row, row.had) if row.had else {},
        )
        for i, rated in enumerate(row.rated):
            pair = self._pair(f"rated.{i}", rated)
            self.target.rated_at[tuple(pair.values())] = datetime.fromisoformat(rated.created)
            if rated.positions:
                self.target.positions[tuple(pair.values())] = list(map(_plain, rated.positions))
        version.save()
        replaced = datetime.fromisoformat(row.replaced)
        Version.objects.filter(pk=version.pk).update(replaced=replaced)
        numbers[row.number] = row.body
        self.summary.created += 1
        self.target.summary.created["earlier versions"] += 1

    def _entity(self, row: VersionRow) -> tuple[str, int]:
        """Return "text" or "question", and the key of the row that a version belongs to."""
        if row.text is not None:
            if row.topic is not None or row.question_index is not None:
                raise _LineError("text", "a version is of a text or of a question")
            ref = TextRef(text_kind=row.text_kind, system=row.system, text=row.text)
            return "text", self._text("text", ref)
        if row.topic is None or row.question_index is None:
            raise _LineError("text", "is missing, and so are topic and question_index")
        return "question", self._question("", row.topic, row.question_index)

    def _superseded(self, field: str, row: SupersededRow, version: VersionRow) -> Json:
        pair = self._pair(field, row)
        rubric = self.target.rubric(row.rubric)
        if row.grade not in rubric.grades:
            raise _LineError(
                f"{field}.grade", f"{row.grade} is no grade of the rubric {row.rubric}"
            )
        body = version.body if row.text_sha256 == digest(version.body) else None
        grade = pair | {"grade": row.grade, "created": row.created}
        grade["spans"] = [
            _span(f"{field}.spans.{i}", span, body)
            | {"earlier_positions": _plain(span.earlier_positions)}
            for i, span in enumerate(row.spans)
        ]
        if row.text_sha256 is not None:
            grade["text_sha256"] = row.text_sha256
        if row.copied_from is not None:
            grade["copied_from"] = self._text(f"{field}.copied_from", row.copied_from)
        if row.exposure is not None:
            grade["exposure"] = int(Exposure.from_file_name(row.exposure))
        if row.is_placed is not None:
            grade["is_placed"] = row.is_placed
        return grade

    def _had(self, version: VersionRow, had: HadRow) -> Json:
        origins = [
            origin(row.role, row.model, row.revision, is_edited=row.edited) for row in had.origins
        ]
        known_origins = {"origins": origins} if origins else {}
        if version.text is None:
            return {"source_body": had.source_body, **known_origins}
        document = None
        if had.document is not None:
            of_dataset = Document.objects.filter(dataset=self.target.dataset, name=had.document)
            document = of_dataset.values_list("pk", flat=True).first()
            if document is None:
                raise _LineError(
                    "had.document", f"there is no document {quoted_value(had.document)}"
                )
        citations = self._citations("had.citations", had.citations)
        position = {"document": document, "start": had.start, "end": had.end}
        return {"citations": citations, **position, **known_origins}

    def _citations(self, field: str, citations: Sequence[CitationRow]) -> list[Json]:
        stored = []
        for i, row in enumerate(citations):
            if row.start >= row.end:
                raise _LineError(f"{field}.{i}.end", "is not behind the start")
            cited = self._text(f"{field}.{i}.cited", row.cited) if row.cited else None
            stored.append(row.model_dump(exclude={"cited"}) | {"cited_id": cited})
        return stored

    def _pair(self, field: str, row: RatedRow) -> dict[str, int]:
        return {
            "rater": self._rater(field, row.rater),
            "rubric": self._rubric(field, row.rubric),
            "text": self._text(f"{field}.text", row),
            "question": self._question(f"{field}.", row.topic, row.question_index),
        }

    def _rater(self, field: str, name: str) -> int:
        rater = self.target.rater_named(name)
        if rater is None:
            raise _LineError(
                f"{field}.rater", f"there is no rater {quoted_value(name)}: see raters.jsonl"
            )
        return rater.pk

    def _rubric(self, field: str, slug: str) -> int:
        rubric = self.target.rubric_called(self.source, self.line, slug)
        if rubric is None:
            raise _LineError(f"{field}.rubric", f"there is no rubric {quoted_value(slug)}")
        return rubric.rubric.pk

    def _text(self, field: str, ref: TextRef) -> int:
        name = (ref.text_kind, ref.system, ref.text)
        if name not in self.texts:
            kind, system, text = name
            matches = Text.objects.filter(
                dataset=self.target.dataset, kind=kind, system=system, name=text
            )
            key = matches.values_list("pk", flat=True).first()
            if key is None:
                raise _LineError(field, f"the {kind} {quoted_value(text)} is not in the dataset")
            self.texts[name] = key
        return self.texts[name]

    def _question(self, prefix: str, topic: str, index: int) -> int:
        known_topic = self.target.topics.get(topic)
        if known_topic is None:
            raise _LineError(f"{prefix}topic", f"topic {quoted_value(topic)} is not in the dataset")
        if index >= len(known_topic.questions):
            message = f"{topic} has {n_of(len(known_topic.questions), 'question')}, counted from 0"
            raise _LineError(f"{prefix}question_index", message)
        return known_topic.questions[index].pk


def _plain(positions: Positions) -> Json | None:
    """Return positions by wording as stored in rows."""
    if positions is None:
        return None
    return {sha256: position.model_dump() for sha256, position in positions.items()}


def _span(field: str, row: SpanRow, body: str | None) -> Json:
    """Return a span as stored in a version, checked against its wording where that is known."""
    is_located = row.located in ("exact", "normalised")
    if is_located != (row.start is not None and row.end is not None):
        raise _LineError(field, "a span is located, and has a start and an end, or neither")
    if body is not None:
        try:
            spans_from_rows(body, [row])
        except SpanError as error:
            raise _LineError(field, str(error)) from error
    return {name: getattr(row, name) for name in _SPAN}
