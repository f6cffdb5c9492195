"""<judge>.judgements.jsonl and <judge>.reference.jsonl: a judge's grades, null for none."""

from collections.abc import Iterator

from annotation.exporters.graded import graded
from annotation.exporters.lines import json_line
from annotation.importers.known import topics_of
from annotation.importers.slots import USUAL, passages_or
from annotation.models import Dataset, Rater
from annotation.rubrics import GRADED


def lines(dataset: Dataset, rater: Rater, slot: str = USUAL) -> Iterator[str]:
    """A line for each pair of topic and text. `slot` as for qrels."""
    topics = {topic.pk: topic for topic in topics_of(dataset).values()}
    for one in graded(dataset, rater, GRADED.slug, passages_or(slot), with_spans=False):
        topic = topics[one.topic_id]
        rating = [one.grades.get(question.position) for question in topic.questions]
        yield json_line({"example_id": topic.name, "pid": one.name, "rating": rating})
