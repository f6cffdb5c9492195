"""topics.jsonl, subquestions.jsonl and passages.jsonl: the test collection without its reports."""

from collections.abc import Iterator
from typing import Any

from annotation.exporters.lines import json_line
from annotation.exporters.order import by_code_point
from annotation.importers.reports import ANNOTATED, NULL_AND_EMPTY, NULL_REASON
from annotation.models import Dataset, SubQuestion, Text, Topic

_CHUNK = 2000


def topics(dataset: Dataset) -> Iterator[str]:
    found = Topic.objects.filter(dataset=dataset).order_by("position", by_code_point("name"))
    for name, request in found.values_list("name", "request"):
        yield json_line({"id": name, "request": request})


def subquestions(dataset: Dataset) -> Iterator[str]:
    """The questions of each topic that has any.

    Why a question is filtered is said here, under `filtered`, if it is more than the null that
    stands for it in the annotated reports of its topic, or than that it has no words.
    """
    annotated = set(
        Text.objects.filter(
            dataset=dataset, kind=Text.Kind.REPORT, system__startswith=ANNOTATED
        ).values_list("topic_id", flat=True)
    )
    found = Topic.objects.filter(dataset=dataset).order_by("position", by_code_point("name"))
    for topic in found.prefetch_related("questions"):
        questions = sorted(topic.questions.all(), key=lambda question: question.position)
        if questions:
            line: dict[str, Any] = {
                "id": topic.name,
                "subquestions": [question.source_body or question.body for question in questions],
            }
            if filtered := _filtered(questions, topic.pk in annotated):
                line["filtered"] = filtered
            yield json_line(line)


def _filtered(questions: list[SubQuestion], annotated: bool) -> dict[str, Any]:
    # That a question has no words, its empty place says.
    filtered = [
        question
        for question in questions
        if question.filtered_because not in ("", SubQuestion.NO_WORDS)
    ]
    if annotated and all(
        question.filtered_because in (NULL_REASON, NULL_AND_EMPTY) and question.filtered_eta is None
        for question in filtered
    ):
        return {}
    return {
        str(question.position): {
            "because": question.filtered_because,
            **({"eta": question.filtered_eta} if question.filtered_eta is not None else {}),
        }
        for question in filtered
    }


def passages(dataset: Dataset, *, referenced: bool) -> Iterator[str]:
    """Every passage whose words we have, by name. The others are in runs and judgements alone.

    The authors keep apart what a run of this dataset names and another dataset's topic was the source
    of: with `referenced` these, without it the others. Where no passage is of a topic, none is apart.
    """
    found = Text.objects.filter(dataset=dataset, kind=Text.Kind.PASSAGE).with_body()
    if found.filter(topic__isnull=False).exists():
        found = found.filter(topic__isnull=referenced)
    elif referenced:
        return
    for name, body in (
        found.order_by(by_code_point("name"))
        .values_list("name", "body")
        .iterator(chunk_size=_CHUNK)
    ):
        yield json_line({"id": name, "contents": body})
