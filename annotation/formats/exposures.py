"""Our own exposures.jsonl: what raters had seen before they gave their grades.

A line without a text is about all grades of a rater under a rubric, one with a text about one of them.
The grades themselves are in other files. What is unknown has no line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db.models import Count

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import ExposureRow, TextKey
from annotation.formats.storing import new_ratings, text_ids
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Rater, Rating
from annotation.models.rating import Exposure, raters_of
from annotation.plurals import n_of


def read(target: Target, source: Source) -> None:
    """Note the exposures of a file; `store_exposures` stores them."""
    for batch in batches(rows(target, source, ExposureRow), LOOK_UP):
        texts = text_ids(target.dataset, (row.text_key for _, row in batch if row.text))
        for line, row in batch:
            _read_line(target, source, line, row, texts)


def _read_line(
    target: Target,
    source: Source,
    line: int,
    row: ExposureRow,
    texts: dict[TextKey, int],
) -> None:
    rater, rubric = target.rater_named(row.rater), target.rubric_called(source, line, row.rubric)
    if rater is None:
        target.problem(source, line, "rater", f"{quoted_value(row.rater)} is not in the dataset")
        return
    if rubric is None:
        return
    keys = (rater.pk, rubric.rubric.pk)
    if not row.text:
        for field in ("topic", "question_index", "system"):
            if getattr(row, field) not in (None, ""):
                target.problem(source, line, field, "is of one grade, and this line names no text")
                return
        target.exposures[keys] = Exposure.from_file_name(row.exposure)
        return
    text, topic = texts.get(row.text_key), target.topics.get(row.topic)
    if text is None or topic is None:
        field = "text" if text is None else "topic"
        message = f"{quoted_value(getattr(row, field))} is not in the dataset"
        target.problem(source, line, field, message)
    elif row.question_index is None:
        target.problem(source, line, "question_index", "is missing: a line with a text is of one")
    elif row.question_index >= len(topic.questions):
        message = f"{topic.name} has {n_of(len(topic.questions), 'question')}, counted from 0"
        target.problem(source, line, "question_index", message)
    else:
        target.exposures[*keys, text, topic.questions[row.question_index].pk] = (
            Exposure.from_file_name(row.exposure)
        )


def store_exposures(target: Target) -> None:
    """Set the exposure of the grades of an import. Grades that were there stay as they are."""
    new = Rating.objects.filter(pk__gt=target.last_rating)
    whole = {keys: value for keys, value in target.exposures.items() if len(keys) == 2}
    for (rater, rubric), exposure in whole.items():
        new.filter(rater=rater, rubric=rubric).update(exposure=exposure)
    for ratings in new_ratings(target, target.exposures.keys() - whole.keys()):
        for pair, rating in ratings.items():
            rating.exposure = target.exposures[pair]
        Rating.objects.expose(ratings.values())


def lines(dataset: Dataset) -> Iterator[str]:
    """Yield the main exposure of each rater and rubric, then grades with another."""
    ratings = Rating.objects.of_dataset(dataset).exclude(rater__kind=Rater.Kind.AGGREGATE)
    counts: dict[tuple[int, str], Counter[int]] = {}
    grouped = ratings.order_by().values_list("rater", "rubric__slug", "exposure")
    for rater_pk, rubric, exposure, n in grouped.annotate(n=Count("pk")):
        counts.setdefault((rater_pk, rubric), Counter())[exposure] = n
    for name, rater in sorted(raters_of(dataset).items()):
        for (pk, rubric), by_exposure in sorted(counts.items()):
            if pk != rater.pk:
                continue
            main_exposure = max(
                by_exposure, key=lambda exposure: (by_exposure[exposure], -exposure)
            )
            if main_exposure != Exposure.UNKNOWN:
                yield json_line(_line(name, rubric, main_exposure))
            if len(by_exposure) > 1:
                yield from _exceptions(
                    ratings.filter(rater=rater, rubric__slug=rubric).exclude(
                        exposure=main_exposure
                    ),
                    name,
                    rubric,
                )


def _exceptions(ratings: Any, rater: str, rubric: str) -> Iterator[str]:
    """Yield a line for each of these grades, by topic, text and question."""
    ordered = ratings.order_by(
        "question__topic__position",
        by_code_point("question__topic__name"),
        "text__kind",
        by_code_point("text__system"),
        by_code_point("text__name"),
        "question__position",
    )
    for topic, position, kind, system, text, exposure in ordered.values_list(
        *("question__topic__name", "question__position", "text__kind", "text__system"),
        *("text__name", "exposure"),
    ):
        pair = {"topic": topic, "question_index": position, "text_kind": kind}
        yield json_line(_line(rater, rubric, exposure) | pair | {"system": system, "text": text})


def _line(rater: str, rubric: str, exposure: int) -> dict[str, Any]:
    return {"rater": rater, "rubric": rubric, "exposure": Exposure(exposure).file_name}
