"""Export for TREC tracks: topics, requests, nuggets, nugget assignments, and qrels.

The labels of grades are those that `annotation.formats.foreign.nuggets` reads.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import F, Q

from annotation.formats.foreign.nuggets import IMPORTANCE, SUPPORT
from annotation.formats.writing import ExportError, by_code_point, json_line
from annotation.models import Dataset, Rater, Rating, SubQuestion, Text, Topic, standard

NO_GRADE = "failed"  # where nobody said, as a nuggetizer has it
_WEIGHTS = {grade: label for label, grade in IMPORTANCE.items()}
_ASSIGNMENTS = {grade: label for label, grade in SUPPORT.items()}
_CHUNK = 2000


def topics(dataset: Dataset) -> Iterator[str]:
    """Yield topics in the format of TREC RAG 2025."""
    return (json_line({"id": topic.name, "title": topic.request}) for topic in _topics(dataset))


def requests(dataset: Dataset) -> Iterator[str]:
    """Yield requests in the format of RAGTIME, with background and statement as one text."""
    for topic in _topics(dataset):
        yield json_line({"request_id": topic.name, "problem_statement": topic.request})


def _topics(dataset: Dataset) -> list[Topic]:
    return list(dataset.topics.order_by("position", by_code_point("name")))


def nuggets(dataset: Dataset, rater: Rater | None) -> Iterator[str]:
    """Yield the nuggets of each topic, with their importance by a rater, or without any."""
    weights = _weights(dataset, rater)
    for topic, questions in _topics_with_nuggets(dataset):
        lines = [_nugget(nugget, weights) for nugget in questions]
        yield json_line({"qid": topic.name, "nuggets": lines})


def assignments(
    dataset: Dataset, rater: Rater, weigher: Rater | None, system: str = ""
) -> Iterator[str]:
    """Yield a rater's nugget assignments of each report, as AutoNuggetizer writes them.

    Of one system, or of all. Reports without a grade of the rater are left out.
    """
    weights = _weights(dataset, weigher)
    nuggets_by_topic = {topic.pk: questions for topic, questions in _topics_with_nuggets(dataset)}
    reports = dataset.texts.with_body().filter(
        kind=Text.Kind.REPORT, topic__in=list(nuggets_by_topic)
    )
    rated = Q(ratings__rater=rater, ratings__rubric__slug=standard.NUGGET_SUPPORT.slug)
    reports = reports.filter(rated, *([Q(system=system)] if system else [])).distinct()
    order = ("system", F("topic__position"), by_code_point("name"))
    for report in reports.select_related("topic").order_by(*order):
        assert report.topic is not None
        assert report.body is not None
        report_grades = report.ratings.filter(
            rater=rater, rubric__slug=standard.NUGGET_SUPPORT.slug
        ).values_list("question", "grade")
        grades = dict(report_grades)
        yield json_line(
            {
                "query": report.topic.request,
                "qid": report.topic.name,
                "nuggets": [
                    _nugget(nugget, weights)
                    | {"assignment": _ASSIGNMENTS.get(grades.get(nugget.pk, -1), NO_GRADE)}
                    for nugget in nuggets_by_topic[report.topic.pk]
                ],
                "run_id": report.system,
                "answer_text": report.body,
                "response_length": len(unicodedata.normalize("NFKC", report.body).split()),
            }
        )


def _topics_with_nuggets(dataset: Dataset) -> Iterator[tuple[Topic, list[SubQuestion]]]:
    """Yield the topics that have nuggets, with those that are not filtered."""
    for topic in dataset.topics.order_by("position").prefetch_related("questions"):
        nuggets = [question for question in topic.questions.all() if not question.is_filtered]
        if nuggets:
            yield topic, sorted(nuggets, key=lambda question: question.position)


def _weights(dataset: Dataset, rater: Rater | None) -> dict[int, int] | None:
    """Return the importance of each nugget; of several texts the newest grade counts."""
    if rater is None:
        return None
    rated = Rating.objects.of_dataset(dataset).filter(
        rater=rater, rubric__slug=standard.IMPORTANCE.slug
    )
    return dict(rated.order_by("pk").values_list("question", "grade"))


def _nugget(nugget: SubQuestion, weights: Mapping[int, int] | None) -> dict[str, Any]:
    line = {"text": nugget.body}
    if nugget.group:
        line["mapped_sub_narrative"] = nugget.group
    if weights is not None:
        line["importance"] = _WEIGHTS.get(weights.get(nugget.pk, 0), NO_GRADE)
    return line


def trec_qrels(dataset: Dataset, rater: Rater, rubric: str) -> Iterator[str]:
    """Yield a rater's grades of texts for the whole request: topic, 0, text, grade.

    Raises ExportError where there are none under the rubric.
    """
    questions = SubQuestion.objects.filter(topic__dataset=dataset).select_related("topic")
    of_request = [
        question.pk for question in questions if question.body == question.topic.request.strip()
    ]
    ratings = Rating.objects.of_dataset(dataset).filter(
        rater=rater, rubric__slug=rubric, question__in=of_request
    )
    if not ratings.exists():
        raise ExportError(f"{rater} has graded nothing for a request as a whole under {rubric}")
    order = ("question__topic__position", by_code_point("text__name"))
    rows = ratings.order_by(*order).values_list("question__topic__name", "text__name", "grade")
    return (
        f"{topic} 0 {text} {grade}\n" for topic, text, grade in rows.iterator(chunk_size=_CHUNK)
    )
