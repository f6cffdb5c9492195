"""Export to annotation tools: the pairs of a dataset with all their grades."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from django.db.models import Max

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.foreign import argilla, label_studio, potato, web_annotation
from annotation.formats.foreign.tools import QUOTES, SPANS, Grading, Pair
from annotation.formats.records import SpanRow
from annotation.formats.writing import ExportError, by_code_point, json_line
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import raters_of

_RATINGS = 2000  # of these the spans and texts are in memory at a time
_FIELDS = ("pk", "rater_id", "rubric__slug", "text_id", "question_id", "grade")


def n_aggregated(dataset: Dataset) -> int:
    """Return the number of aggregated grades, which are left out of these exports."""
    return Rating.objects.of_dataset(dataset).filter(rater__kind=Rater.Kind.AGGREGATE).count()


def pairs(dataset: Dataset) -> Iterator[Pair]:
    """Yield the graded pairs by topic, kind, system, text and question, in batches.

    Grades of a pair are ordered by rater and rubric. Raises ExportError for a rubric whose slug is
    a reserved name of the files.
    """
    ratings = (
        Rating.objects.of_dataset(dataset)
        .exclude(rater__kind=Rater.Kind.AGGREGATE)
        .order_by(
            "question__topic__position",
            by_code_point("question__topic__name"),
            "text__kind",
            by_code_point("text__system"),
            by_code_point("text__name"),
            "question__position",
            by_code_point("rater__name"),
            "rater_id",
            by_code_point("rubric__slug"),
        )
        .values_list(*_FIELDS)
        .iterator(chunk_size=_RATINGS)
    )
    builder = _PairBuilder(dataset)
    by_pair = (list(group) for _, group in groupby(ratings, key=lambda row: row[3:5]))
    for groups in _batches(by_pair):
        yield from builder.pairs(groups)


def _batches(groups: Iterator[list[Any]]) -> Iterator[list[list[Any]]]:
    """Yield groups of whole pairs, with about _RATINGS ratings each."""
    batch: list[list[Any]] = []
    n = 0
    for group in groups:
        batch.append(group)
        n += len(group)
        if n >= _RATINGS:
            yield batch
            batch, n = [], 0
    if batch:
        yield batch


class _PairBuilder:
    def __init__(self, dataset: Dataset) -> None:
        self.raters = {rater.pk: (name, rater.kind) for name, rater in raters_of(dataset).items()}
        levels = Rubric.objects.annotate(largest=Max("levels__grade"))
        self.largest = dict(levels.values_list("slug", "largest"))
        for name in (SPANS, QUOTES):
            if Rating.objects.of_dataset(dataset).filter(rubric__slug=name).exists():
                raise ExportError(f"a rubric is called {name}, which is what spans are called here")

    def pairs(self, groups: list[list[Any]]) -> Iterator[Pair]:
        rows = [row for group in groups for row in group]
        spans = _spans([row[0] for row in rows])
        texts = Text.objects.in_bulk({row[3] for row in rows})
        questions = SubQuestion.objects.select_related("topic").in_bulk({row[4] for row in rows})
        for group in groups:
            text, question = texts[group[0][3]], questions[group[0][4]]
            yield Pair(
                topic=question.topic.name,
                place=question.position,
                question=question.body,
                kind=text.kind,
                system=text.system,
                text=text.name,
                body=text.body,
                gradings=[
                    Grading(
                        *self.raters[rater], rubric, grade, self.largest[rubric], spans.get(pk, ())
                    )
                    for pk, rater, rubric, _, _, grade in group
                ],
            )


def _spans(rating_ids: list[int]) -> dict[int, list[SpanRow]]:
    spans: dict[int, list[SpanRow]] = {}
    for keys in batches(rating_ids, LOOK_UP):
        for span in NuggetSpan.objects.filter(rating__in=keys).order_by("rating", "position"):
            row = SpanRow.model_construct(
                start=span.start, end=span.end, quote=span.quote, source_quote=span.source_quote
            )
            spans.setdefault(span.rating_id, []).append(row)
    return spans


def _array(
    objects: Iterator[dict[str, Any]], first: str = "[\n", last: str = "\n]\n"
) -> Iterator[str]:
    """Yield one JSON array, an object a line; nothing if there are no objects."""
    before = first
    for value in objects:
        yield before + json.dumps(value, ensure_ascii=False)
        before = ",\n"
    if before != first:
        yield last


def _lines(objects: Iterator[dict[str, Any]]) -> Iterator[str]:
    return map(json_line, objects)


def _objects(
    of_pair: Callable[[Pair], Iterator[dict[str, Any]]], dataset: Dataset
) -> Iterator[dict[str, Any]]:
    return (converted for pair in pairs(dataset) for converted in of_pair(pair))


TOOLS: dict[str, Callable[[Dataset], Iterator[str]]] = {
    "web-annotation": lambda dataset: _array(
        _objects(web_annotation.annotations, dataset), *web_annotation.page_of(dataset.slug)
    ),
    "label-studio": lambda dataset: _array(map(label_studio.task, pairs(dataset))),
    "potato": lambda dataset: _lines(_objects(potato.records, dataset)),
    "argilla": lambda dataset: _array(map(argilla.record, pairs(dataset))),
}
