"""Query of the comparison of two rankings: two runs of the dataset, and a topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.models import Dataset, Topic
from evaluation.data.query import OneOf, PageQuery, parameter
from evaluation.models import RetrievalRun


class SideBySideQuery(PageQuery):
    """Two runs and a topic.

    The defaults are the first run, another one, and the first topic that one of both ranks.
    """

    first: RetrievalRun = parameter(OneOf("retrieval run"), "a")
    second: RetrievalRun = parameter(OneOf("retrieval run"), "b")
    topic: Topic = parameter(OneOf("topic"))

    def __init__(self, dataset: Dataset, params: Mapping[str, str]) -> None:
        self.runs = tuple(RetrievalRun.objects.filter(dataset=dataset).order_by("name"))
        self.topics = tuple(dataset.topics.order_by("position"))
        names = [run.name for run in self.runs]
        super().__init__(params, a=names, b=names, topic=self.topics)

    @property
    def has_rankings(self) -> bool:
        """Return False if the dataset has fewer than two runs, or no topic."""
        return len(self.runs) > 1 and bool(self.topics)

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        if not self.has_rankings:
            return values
        runs = {run.name: run for run in self.runs}
        first = runs.get(values["a"]) or next(r for r in self.runs if r.name != values["b"])
        second = runs.get(values["b"]) or next(r for r in self.runs if r != first)
        topic = next((topic for topic in self.topics if topic.name == values["topic"]), None)
        return {"a": first, "b": second, "topic": topic or self._ranked_topic(first, second)}

    def _ranked_topic(self, *runs: RetrievalRun) -> Topic:
        ranked = set(Topic.objects.filter(ranked__run__in=runs).values_list("pk", flat=True))
        return next((topic for topic in self.topics if topic.pk in ranked), self.topics[0])

    @property
    def to_previous(self) -> str:
        """Return the query string of the previous topic; "" for the first."""
        index = self.topics.index(self.topic)
        return self.query(topic=self.topics[index - 1].name) if index else ""

    @property
    def to_next(self) -> str:
        index = self.topics.index(self.topic) + 1
        return self.query(topic=self.topics[index].name) if index < len(self.topics) else ""
