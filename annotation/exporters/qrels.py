"""<rater>.qrels.jsonl: T2 labels as the authors write them. `offsets` as in qlabels."""

from collections.abc import Iterator
from typing import Any

from annotation.exporters.graded import graded
from annotation.exporters.lines import json_line
from annotation.importers.known import topics_of
from annotation.importers.records import UNJUDGED
from annotation.importers.slots import USUAL, passages_or
from annotation.models import Dataset, Rater
from annotation.rubrics import GRADED


def lines(dataset: Dataset, rater: Rater, slot: str = USUAL) -> Iterator[str]:
    """A line for each pair of topic and passage of which the rater graded at least one question.

    `slot`: "" for passages, else a system of reports, or "reference" for the reference summaries.
    """
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    for one in graded(dataset, rater, GRADED.slug, passages_or(slot), with_spans=True):
        topic = topics[one.topic_id]
        positions = [question.position for question in topic.questions]
        line: dict[str, Any] = {
            "id": topic.name,
            "document": one.name,
            "relevances": {str(at): one.grades.get(at, UNJUDGED) for at in positions},
            "rationales": {str(at): one.words(at) for at in positions},
        }
        if offsets := one.offsets():
            line["offsets"] = offsets
        yield json_line(line)
