"""Qrels for trec_eval and ndeval: a rater's grades of passages, by topic or subtopic.

A subtopic is a sub-question by its number, from 1. A grade of 0 has its line; an ungraded passage
has none.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import Max

from annotation.formats.writing import ExportError, by_code_point
from annotation.models import Dataset, Rater, Rating, SubQuestion, Text
from annotation.models.rating import RatingQuerySet

_TOPICS = ("question__topic__position", by_code_point("question__topic__name"))
_CHUNK = 2000


def graded(dataset: Dataset, rater: Rater, rubric: str) -> Iterator[str]:
    """Yield topic, 0, passage, and the highest grade for any question of the topic.

    From eta on a passage is then relevant if it answers any question, filtered ones too. Unlike P*
    it may be of another topic. Raises ExportError where the rater graded none, or a name holds
    white space.
    """
    best = _rated(dataset, rater, rubric).values_list("question__topic__name", "text__name")
    rows = best.annotate(Max("grade")).order_by(*_TOPICS, by_code_point("text__name"))
    for topic, text, grade in rows.iterator(_CHUNK):
        yield _line(topic, 0, text, grade)


def diversity(dataset: Dataset, rater: Rater, rubric: str) -> Iterator[str]:
    """Yield topic, subtopic, passage and grade, in the order of questions.

    The request as a whole is no subtopic. Raises ExportError as `graded`.
    """
    rated = _rated(dataset, rater, rubric).exclude(question__filtered_because=SubQuestion.WHOLE)
    rows = rated.order_by(*_TOPICS, "question__position", by_code_point("text__name"))
    columns = ("question__topic__name", "question__position", "text__name", "grade")
    for topic, position, text, grade in rows.values_list(*columns).iterator(_CHUNK):
        yield _line(topic, position + 1, text, grade)


QRELS = {"graded-qrels": graded, "diversity-qrels": diversity}
"""What writes each kind, of a dataset, a rater and a rubric."""


def _rated(dataset: Dataset, rater: Rater, rubric: str) -> RatingQuerySet:
    rated = Rating.objects.of_dataset(dataset).filter(
        rater=rater, rubric__slug=rubric, text__kind=Text.Kind.PASSAGE
    )
    if not rated.exists():
        raise ExportError(f"{rater} has graded no passage under {rubric}")
    return rated


def _line(*cells: Any) -> str:
    line = " ".join(map(str, cells))
    if len(line.split()) != len(cells):
        raise ExportError(f"a name holds white space: {line}")
    return line + "\n"
