"""<rater>.qlabels.jsonl: T1 labels as the authors write them.

Unlike the authors' own files: `coverage` leaves filtered questions out (theirs divides by all),
several spans of one question are joined by an elision, and `offsets` says where a highlight stands
if its words stand elsewhere too.
"""

from collections.abc import Iterator
from typing import Any

from annotation.exporters.errors import ExportError
from annotation.exporters.graded import Graded, graded
from annotation.exporters.lines import json_line
from annotation.importers.known import KnownTopic, topics_of
from annotation.importers.records import FILTERED, NOT_APPLICABLE, UNJUDGED
from annotation.importers.slots import USUAL, annotated_or, ids_of_reports
from annotation.models import Dataset, Rater
from annotation.rubrics import ANSWERABLE


def lines(dataset: Dataset, rater: Rater, slot: str = USUAL) -> Iterator[str]:
    """A line for each report of which the rater graded at least one question.

    `slot`: "" for annotated reports, else a system, or "reference" for the reference summaries.
    Raises ExportError for a topic with two questions of the same words, which are the keys here.
    """
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    ids = {pk: name for name, pk in ids_of_reports(dataset, slot).items()}
    for one in graded(dataset, rater, ANSWERABLE.slug, annotated_or(slot), with_spans=True):
        yield _line(ids[one.text_id], one, topics[one.topic_id])


def _line(name: str, one: Graded, topic: KnownTopic) -> str:
    nuggets: dict[str, str] = {}
    labels = []
    bodies: set[str] = set()
    for question in topic.questions:
        grade = one.grades.get(question.position)
        filtered = question.is_null and grade is None
        if grade is None:
            grade = FILTERED if filtered else UNJUDGED
        labels.append(grade)
        if question.body in bodies:
            raise ExportError(f"two questions of {topic.name} are {question.body!r}")
        bodies |= {question.body} - {""}
        key = NOT_APPLICABLE if filtered else question.as_written
        nuggets[key] = nuggets.get(key) or one.words(question.position)
    line: dict[str, Any] = {
        "id": name,
        "question_based_nugget": nuggets,
        "answerability": labels,
        "coverage": _coverage(labels, topic),
    }
    if offsets := one.offsets():
        line["offsets"] = offsets
    return json_line(line)


def _coverage(labels: list[int], topic: KnownTopic) -> float | None:
    """The part of the questions asked that the report answers; None if none is asked."""
    asked = [
        label
        for label, question in zip(labels, topic.questions, strict=True)
        if not question.filtered
    ]
    return asked.count(1) / len(asked) if asked else None
