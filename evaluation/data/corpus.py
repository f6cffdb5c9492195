"""Texts and questions of a dataset as arrays, without their bodies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from django.db.models import BooleanField, ExpressionWrapper, Q

from annotation.models import Dataset, SubQuestion, Text, Topic
from evaluation.data.cache import until_content_changes
from evaluation.data.process_cache import CORPORA
from evaluation.metrics.grades import BoolArray
from evaluation.stats.estimate import IntArray

KINDS = (Text.Kind.PASSAGE.value, Text.Kind.REPORT.value, Text.Kind.REFERENCE.value)
PASSAGE = KINDS.index(Text.Kind.PASSAGE)
TEXT = np.dtype([("pk", np.int64), ("topic", np.int64), ("kind", np.int8), ("has_body", np.bool_)])
NO_TOPIC = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question, without its words."""

    pk: int
    position: int
    is_filtered: bool
    is_whole: bool = False
    """The request itself, beside sub-questions: what qrels grade, and no coverage counts."""


class TextRow(NamedTuple):
    """A text, without its words."""

    pk: int
    name: str
    kind: str
    system: str

    @property
    def group(self) -> str:
        """The system that wrote it; for passages and references, which have none, their kind."""
        return self.system or {"passage": "passages", "reference": "references"}[self.kind]


@dataclass(frozen=True)
class Corpus:
    """Topics, questions and texts of a dataset, by key.

    Arrays of texts are in ascending order of `pk`.
    """

    dataset: int
    topics: dict[int, str]
    """The names of the topics, in the order of the dataset."""
    questions: dict[int, tuple[Question, ...]]
    """By topic, in the order of their positions."""
    pk: IntArray
    topic: IntArray
    """The topic that each text belongs to, NO_TOPIC for one of none."""
    kind: IntArray
    """Its place in KINDS."""
    has_body: BoolArray
    names: tuple[str, ...]
    systems: tuple[str, ...]

    @cached_property
    def text_rows(self) -> dict[int, TextRow]:
        """The texts by key."""
        keys, kinds = self.pk.tolist(), [KINDS[kind] for kind in self.kind.tolist()]
        rows = map(TextRow, keys, self.names, kinds, self.systems)
        return dict(zip(keys, rows, strict=True))

    def at(self, texts: Iterable[int] | IntArray) -> IntArray:
        """Return the indices of these texts in the arrays.

        All of them must be of this dataset.
        """
        return np.searchsorted(self.pk, np.asarray(texts, dtype=np.int64))


def load_corpus(dataset: Dataset) -> Corpus:
    """Load the topics, questions and texts of a dataset, cached until they change.

    Three queries.
    """
    return until_content_changes(CORPORA, dataset, (), lambda: _load(dataset))


def _load(dataset: Dataset) -> Corpus:
    topics = Topic.objects.filter(dataset=dataset).order_by("position", "pk")
    names_of = dict(topics.values_list("pk", "name"))
    questions: dict[int, list[Question]] = {topic: [] for topic in names_of}
    sub_questions = SubQuestion.objects.filter(topic__dataset=dataset).order_by(
        "topic_id", "position"
    )
    for topic, pk, position, filtered_because in sub_questions.values_list(
        "topic_id", "pk", "position", "filtered_because"
    ):
        questions[topic].append(
            Question(pk, position, bool(filtered_because), filtered_because == SubQuestion.WHOLE)
        )
    has_body = ExpressionWrapper(Q(body__isnull=False), output_field=BooleanField())
    texts = (
        Text.objects.filter(dataset=dataset)
        .order_by("pk")
        .values_list("pk", "topic_id", "kind", has_body, "name", "system")
    )
    names: list[str] = []
    systems: list[str] = []

    def rows() -> Iterable[tuple[int, int, int, bool]]:
        numbers = {kind: number for number, kind in enumerate(KINDS)}
        for pk, topic, kind, with_body, name, system in texts.iterator(chunk_size=10_000):
            names.append(name)
            systems.append(system)
            yield pk, topic or NO_TOPIC, numbers[kind], with_body

    columns = np.fromiter(rows(), dtype=TEXT)
    return Corpus(
        dataset=dataset.pk,
        topics=names_of,
        questions={topic: tuple(rows) for topic, rows in questions.items()},
        pk=columns["pk"].copy(),
        topic=columns["topic"].copy(),
        kind=columns["kind"].astype(np.int64),
        has_body=columns["has_body"].copy(),
        names=tuple(names),
        systems=tuple(systems),
    )
