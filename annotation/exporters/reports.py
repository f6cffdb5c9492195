"""reports_annotated.jsonl and reports_all.<system>.jsonl, as the authors write them."""

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import QuerySet

from annotation.exporters.lines import json_line
from annotation.exporters.order import by_code_point
from annotation.importers.known import topics_of
from annotation.importers.reports import ANNOTATED, HUMAN_EVAL
from annotation.importers.slots import USUAL, annotated_or
from annotation.models import Dataset, Text

# The passages that a report was written from: {(system, topic key): names by rank}
Contexts = Mapping[tuple[str, int], Sequence[str]]
_CHUNK = 500


def annotated(dataset: Dataset, contexts: Contexts) -> Iterator[str]:
    """The reports that people annotated; filtered questions are null."""
    found = Text.objects.filter(annotated_or(USUAL), dataset=dataset)
    return _lines(dataset, found, contexts, nulls=True)


def of_system(dataset: Dataset, system: str, contexts: Contexts) -> Iterator[str]:
    """The reports of one system human_eval.*; no question is null."""
    found = Text.objects.filter(dataset=dataset, kind=Text.Kind.REPORT, system=system)
    return _lines(dataset, found, contexts, nulls=False)


def _lines(
    dataset: Dataset, found: QuerySet[Text], contexts: Contexts, *, nulls: bool
) -> Iterator[str]:
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    references = dict(
        Text.objects.filter(dataset=dataset, kind=Text.Kind.REFERENCE)
        .with_body()
        .values_list("name", "body")
    )
    reports = found.filter(body__isnull=False, topic__isnull=False)
    ordered = reports.order_by(
        by_code_point("system"),
        "topic__position",
        by_code_point("topic__name"),
        by_code_point("name"),
    )
    for name, system, topic_id, body in ordered.values_list(
        "name", "system", "topic_id", "body"
    ).iterator(chunk_size=_CHUNK):
        topic = topics[topic_id]
        docids = list(contexts.get((system, topic_id), ()))
        yield json_line(
            {
                "qid": name,
                "topic": topic.request,
                "questions": [
                    None if nulls and question.is_null else question.as_written
                    for question in topic.questions
                ],
                "type": system.removeprefix(ANNOTATED).removeprefix(HUMAN_EVAL),
                "docids": docids,
                "report": references.get(f"{topic.name}:report"),
                "response": body,
                "k": len(docids),
            }
        )
