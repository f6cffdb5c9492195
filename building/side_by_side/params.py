"""What the page may be asked for: two runs of the dataset, and a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.http import urlencode

from annotation.models import Dataset, Topic
from evaluation.data.query import OneOf, QueryForm
from evaluation.models import RetrievalRun


class SideBySideForm(QueryForm):
    a = OneOf("retrieval run")
    b = OneOf("retrieval run")
    topic = OneOf("topic")


@dataclass(frozen=True)
class Pair:
    """Two runs and a topic, and what else may be chosen."""

    first: RetrievalRun
    second: RetrievalRun
    topic: Topic
    runs: tuple[RetrievalRun, ...]
    topics: tuple[Topic, ...]

    @property
    def query(self) -> str:
        """The state of the page as a query."""
        return self._query(self.topic)

    @property
    def to_previous(self) -> str:
        """The same runs of the topic before; "" for the first."""
        place = self.topics.index(self.topic)
        return self._query(self.topics[place - 1]) if place else ""

    @property
    def to_next(self) -> str:
        place = self.topics.index(self.topic) + 1
        return self._query(self.topics[place]) if place < len(self.topics) else ""

    def _query(self, topic: Topic) -> str:
        return urlencode({"a": self.first.name, "b": self.second.name, "topic": topic.name})


def pair_of(dataset: Dataset, asked: Mapping[str, str]) -> Pair | None:
    """What these parameters ask for; None where the dataset has not two runs, or no topic.

    What they leave out is the first run, another one, and the first topic that one of both ranks. Raises
    SelectionError, which lists the choices, for what the dataset does not have.
    """
    runs = tuple(RetrievalRun.objects.filter(dataset=dataset).order_by("name"))
    topics = tuple(dataset.topics.order_by("position"))
    form = SideBySideForm(asked)
    form.offer(a=[run.name for run in runs], b=[run.name for run in runs], topic=topics)
    words = form.asked()
    if len(runs) < 2 or not topics:
        return None
    by_name = {run.name: run for run in runs}
    first = by_name.get(words["a"]) or next(run for run in runs if run.name != words["b"])
    second = by_name.get(words["b"]) or next(run for run in runs if run != first)
    topic = next((topic for topic in topics if topic.name == words["topic"]), None)
    if topic is None:
        ranked = set(
            dataset.topics.filter(ranked__run__in=(first, second)).values_list("pk", flat=True)
        )
        topic = next((each for each in topics if each.pk in ranked), topics[0])
    return Pair(first, second, topic, runs, topics)
