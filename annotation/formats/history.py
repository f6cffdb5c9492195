"""Export of text_history.jsonl: earlier wordings, with their superseded grades.

Raters, rubrics, texts and questions are named as in ratings.jsonl, never by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.writing import json_line
from annotation.models import (
    Dataset,
    Document,
    NuggetSpan,
    Rater,
    Rubric,
    SubQuestion,
    Text,
    Version,
)
from annotation.models.rating import Exposure, raters_by_name, raters_of
from annotation.text.reanchoring import TextOrQuestion, ratings_of

_SPAN = ("start", "end", "quote", "located", "source_quote")
_OF_A_GRADE = ("grade", "created", "text_sha256", "is_placed")  # the last two not of every row
_OF_A_CITATION = ("position", "start", "end", "label")
Json = dict[str, Any]


def known_raters(dataset: Dataset) -> dict[str, Rater]:
    """Return the raters of a dataset by name, also those with only superseded grades."""
    raters = raters_of(dataset).values()
    superseded = superseded_raters(dataset) - {rater.pk for rater in raters}
    return raters_by_name([*raters, *Rater.objects.filter(pk__in=superseded)])


def superseded_raters(dataset: Dataset) -> set[int]:
    """Return the keys of raters with superseded grades."""
    return {row["rater"] for row in _superseded(dataset)}


def superseded_rubrics(dataset: Dataset) -> set[int]:
    """Return the keys of rubrics with superseded grades."""
    return {row["rubric"] for row in _superseded(dataset)}


def _superseded(dataset: Dataset) -> Iterator[Json]:
    rows_of_versions = (
        dataset.versions.exclude(set_aside=[]).order_by().values_list("set_aside", flat=True)
    )
    return (row for rows in rows_of_versions for row in rows)


def lines(dataset: Dataset) -> Iterator[str]:
    """Yield a line for each version, those of texts first, by name and number."""
    versions = list(dataset.versions.select_related("text", "question", "by"))
    if not versions:
        return
    names = _Names(dataset, versions)
    ordered = sorted(versions, key=lambda version: (*names.sort_key(version), version.number))
    last = {names.sort_key(version): version.pk for version in ordered}
    for version in ordered:
        is_last = last[names.sort_key(version)] == version.pk
        yield json_line(_line(version, names, is_last=is_last))


def _line(version: Version, names: _Names, *, is_last: bool) -> Json:
    line: Json = {
        **names.entity(version),
        "number": version.number,
        "body": version.body,
        "why": version.why,
        "counts": version.counts,
        "n_ratings": version.n_ratings,
        "replaced": _time(version.replaced),
        "by": version.changed_by,
    }
    if superseded := [grade for row in version.set_aside if (grade := names.superseded(row))]:
        line["superseded"] = superseded
    if version.citations:
        line["citations"] = [names.citation(row) for row in version.citations]
    if version.had:
        line["had"] = names.had(version.had)
    if is_last and (rated := names.rated(version.entity)):
        line["rated"] = rated
    return line


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


class _Names:
    """Natural keys for primary keys; rows that refer to deleted ones are left out."""

    def __init__(self, dataset: Dataset, versions: Iterable[Version]) -> None:
        self.raters = {
            rater.pk: name
            for name, rater in known_raters(dataset).items()
            if rater.kind != Rater.Kind.AGGREGATE
        }
        self.rubrics = dict(Rubric.objects.values_list("pk", "slug"))
        questions = SubQuestion.objects.filter(topic__dataset=dataset)
        self.questions = {
            pk: {"topic": topic, "question_index": position}
            for pk, topic, position in questions.values_list("pk", "topic__name", "position")
        }
        self.texts: dict[int, Json] = {}
        self._look_up(_texts(versions))

    def entity(self, version: Version) -> Json:
        """Return the natural key of a version's text or question."""
        if version.text_id:
            return self.texts[version.text_id]
        assert version.question_id
        return self.questions[version.question_id]

    def sort_key(self, version: Version) -> tuple[Any, ...]:
        return (version.text_id is None, *self.entity(version).values())

    def superseded(self, row: Mapping[str, Any]) -> Json | None:
        pair = self._pair(row["rater"], row["rubric"], row["text"], row["question"])
        if pair is None:
            return None
        spans = [{name: span[name] for name in _SPAN} | _positions(span) for span in row["spans"]]
        fields = {name: row[name] for name in _OF_A_GRADE if name in row} | {"spans": spans}
        if read_text := self.texts.get(row.get("copied_from", 0)):
            fields["copied_from"] = read_text
        if "exposure" in row:
            fields["exposure"] = Exposure(row["exposure"]).file_name
        return pair | fields

    def citation(self, row: Mapping[str, Any]) -> Json:
        fields = {name: row[name] for name in _OF_A_CITATION}
        return fields | {"cited": self.texts.get(row["cited_id"])}

    def had(self, had: Mapping[str, Any]) -> Json:
        if "citations" not in had:
            return dict(had)  # of a question
        document = Document.objects.filter(pk=had.get("document") or 0).first()
        return {
            "citations": [self.citation(row) for row in had["citations"]],
            "document": document.name if document else None,
            "start": had["start"],
            "end": had["end"],
            **({"origins": had["origins"]} if had.get("origins") else {}),
        }

    def rated(self, entity: TextOrQuestion) -> list[Json]:
        """Return the time of each rating of a text or question, and its spans' earlier positions."""
        ratings = ratings_of(entity).exclude(rater__kind=Rater.Kind.AGGREGATE)
        fields = ("rater_id", "rubric_id", "text_id", "question_id", "created", "pk")
        rows = list(ratings.values_list(*fields))
        self._look_up({row[2] for row in rows})
        positions: dict[int, list[Any]] = {}
        spans = NuggetSpan.objects.filter(rating__in=ratings).order_by("position")
        for rating, moved in spans.values_list("rating_id", "earlier_positions"):
            positions.setdefault(rating, []).append(moved or None)
        lines = [
            pair
            | {"created": _time(created)}
            | ({"positions": positions[pk]} if any(positions.get(pk, ())) else {})
            for *keys, created, pk in rows
            if (pair := self._pair(*keys)) is not None
        ]
        return sorted(lines, key=lambda row: tuple(map(str, row.values())))

    def _look_up(self, texts: set[int]) -> None:
        for keys in batches(texts - self.texts.keys(), LOOK_UP):
            stored = Text.objects.filter(pk__in=keys).values_list("pk", "kind", "system", "name")
            for pk, kind, system, name in stored:
                self.texts[pk] = {"text_kind": kind, "system": system, "text": name}

    def _pair(self, rater: int, rubric: int, text: int, question: int) -> Json | None:
        if rater not in self.raters or rubric not in self.rubrics:
            return None
        if text not in self.texts or question not in self.questions:
            return None
        names = {"rater": self.raters[rater], "rubric": self.rubrics[rubric]}
        return names | self.texts[text] | self.questions[question]


def _positions(span: Mapping[str, Any]) -> Json:
    positions = span.get("earlier_positions")
    return {"earlier_positions": positions} if positions else {}


def _texts(versions: Iterable[Version]) -> set[int]:
    """Return the keys of all texts that versions refer to."""
    keys: set[int | None] = set()
    for version in versions:
        keys.add(version.text_id)
        keys |= {row["text"] for row in version.set_aside}
        keys |= {row.get("copied_from") for row in version.set_aside}
        citations = [*version.citations, *version.had.get("citations", ())]
        keys |= {row["cited_id"] for row in citations}
    return {key for key in keys if key is not None}
