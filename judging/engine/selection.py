"""Selection of the texts that a run grades, as requested and as database keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple, Protocol, Self

from django.conf import settings
from django.db.models import Count

from annotation.errors import UserError
from annotation.models import Dataset, SubQuestion, Text, Topic
from annotation.plurals import n_of
from annotation.text.equal_texts import wording_keys

KINDS = {"passages": "passage", "reports": "report", "reference": "reference"}


TOPICS_AT_ONCE = 50


class SelectionError(UserError):
    """Selection of something that does not exist; the message can be shown to a person."""

    status = 422


class Rankings(Protocol):
    """Interface to the retrieval runs of another app: the module that JUDGE_RANKINGS names."""

    def names(self, dataset: Dataset) -> list[str]: ...

    def ranked(self, dataset: Dataset, run: str, depth: int | None) -> dict[int, list[int]]:
        """Return keys of the texts of a run by topic, by rank, the first `depth` of each."""
        ...


def rankings() -> Rankings:
    module: Rankings = import_module(settings.JUDGE_RANKINGS)
    return module


class TopicTexts(NamedTuple):
    """Selected texts of a topic that have a body: (key, wording key) in the order of asking."""

    topic: Topic
    questions: list[int]
    texts: list[tuple[int, str]]
    n_without_words: int


@dataclass(frozen=True)
class Selection:
    """Texts of some kinds and topics, or those that a retrieval run ranks.

    `limit` cuts the pairs that are planned; with `retry` only pairs whose attempt failed are asked, with
    `failed_in` only those that failed in that judge run. A test of a judge has only the size of its
    sample, as `limit`, and the `seed` that it was drawn by.
    """

    texts: str = ""
    topics: tuple[str, ...] = ()
    run: str = ""
    depth: int | None = None
    limit: int | None = None
    retry: bool = False
    failed_in: int | None = None
    seed: int = 0

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        return cls(**{**values, "topics": tuple(values.get("topics", ()))})

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}

    def describe(self) -> str:
        """Describe the selection in a phrase that follows "grades"."""
        description = "the pairs that failed" if self.retry else self.texts or "all texts"
        if self.failed_in:
            description += f" in judge run {self.failed_in}"
        if self.run:
            description += f" of the run {self.run}" + (
                f" to rank {self.depth}" if self.depth else ""
            )
        if self.topics:
            description += " of " + (
                f"the topic {self.topics[0]}"
                if len(self.topics) == 1
                else f"{len(self.topics)} topics"
            )
        return description + (f", {n_of(self.limit, 'pair', ',')} at most" if self.limit else "")

    def check(self, dataset: Dataset) -> None:
        """Raises SelectionError for a kind, topic, run or number that is not valid."""
        if self.texts and self.texts not in KINDS:
            raise SelectionError(f"Texts are {', '.join(KINDS)}, not {self.texts!r}.")
        existing = set(dataset.topics.filter(name__in=self.topics).values_list("name", flat=True))
        if unknown := [name for name in self.topics if name not in existing]:
            raise SelectionError(f"{dataset.slug} has no topic {unknown[0]!r}.")
        if self.run and self.run not in (names := rankings().names(dataset)):
            available = ", ".join(names) or "none"
            raise SelectionError(f"{dataset.slug} has no run {self.run!r}; there are: {available}.")
        if self.depth is not None and not self.run:
            raise SelectionError("A depth needs a run: it counts the ranks of its texts.")
        for name, value in (("depth", self.depth), ("limit", self.limit)):
            if value is not None and value < 1:
                raise SelectionError(f"The {name} is a number of 1 or more, not {value}.")

    def by_topic(self, dataset: Dataset) -> Iterator[TopicTexts]:
        """Yield the texts topic by topic; memory holds those of a few topics at a time."""
        ranked = rankings().ranked(dataset, self.run, self.depth) if self.run else None
        topics = dataset.topics.order_by("position")
        if self.topics:
            topics = topics.filter(name__in=self.topics)
        # All of them, and not as they are read: planning writes between two lots, and SQLite lets
        # nobody write who still reads what was there before another's write.
        remaining = iter(list(topics))
        while lot := list(islice(remaining, TOPICS_AT_ONCE)):
            texts = self._texts(dataset, lot, ranked)
            questions = defaultdict[int, list[int]](list)
            sub_questions = (
                SubQuestion.objects.with_words().filter(topic__in=lot).order_by("position")
            )
            for topic_id, pk in sub_questions.values_list("topic_id", "pk"):
                questions[topic_id].append(pk)
            for topic in lot:
                rows = texts.get(topic.pk, [])
                with_body = [(pk, body) for pk, body in rows if body]
                yield TopicTexts(topic, questions[topic.pk], with_body, len(rows) - len(with_body))

    def _texts(
        self, dataset: Dataset, topics: list[Topic], ranked: dict[int, list[int]] | None
    ) -> dict[int, list[tuple[int, str]]]:
        """Return the chosen texts by topic, in the order of asking: key and wording key.

        The wording key of a text without a body is empty.
        """
        of_topic: dict[int, list[tuple[int, str]]] = {}
        if ranked is None:
            chosen = self._of_kind(dataset.texts.filter(topic__in=topics)).order_by("pk")
            wordings = wording_keys(chosen)
            for topic, pk in chosen.values_list("topic_id", "pk"):
                of_topic.setdefault(topic, []).append((pk, wordings.get(pk, "")))
            return of_topic
        ranked_keys = {topic.pk: ranked.get(topic.pk, []) for topic in topics}
        keys = {pk for ranks in ranked_keys.values() for pk in ranks}
        texts = self._of_kind(dataset.texts.filter(pk__in=keys)).order_by()
        wordings = dict.fromkeys(texts.values_list("pk", flat=True), "") | wording_keys(texts)
        return {
            topic: [(pk, wordings[pk]) for pk in ranks if pk in wordings]
            for topic, ranks in ranked_keys.items()
        }

    def possible(self, dataset: Dataset) -> int:
        """Count the pairs of the chosen texts, judged or not."""
        if self.run:
            return sum(len(t.texts) * len(t.questions) for t in self.by_topic(dataset))
        topics = dataset.topics.all()
        if self.topics:
            topics = topics.filter(name__in=self.topics)
        n_questions = dict(
            SubQuestion.objects.with_words()
            .filter(topic__in=topics)
            .order_by()
            .values_list("topic_id")
            .annotate(n=Count("pk"))
        )
        texts = self._of_kind(dataset.texts.with_body().filter(topic__in=topics)).order_by()
        counted = texts.values_list("topic_id").annotate(n=Count("pk"))
        return sum(n * n_questions.get(topic, 0) for topic, n in counted)

    def _of_kind(self, texts: Any) -> Any:
        return texts.filter(kind=Text.Kind(KINDS[self.texts])) if self.texts else texts
