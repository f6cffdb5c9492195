"""Reports of systems, references of their topics, and answers to questions in both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from django.db.models import Count, Max, QuerySet

from annotation.filtering import REPEATS
from annotation.models import Dataset, NuggetSpan, Rating, SubQuestion, Text, Topic
from annotation.models.rating import RatingQuerySet, raters_of
from annotation.models.standard import ANSWERED
from annotation.text.spans import ELISION
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import JUDGE, Column
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.models import ReportValue, System

Answers = dict[int, dict[int, str | None]]  # by topic and question; None: it cannot be told


class AskedQuestion(NamedTuple):
    """Question of a topic. `repeats` is the key of an earlier one with the same text."""

    pk: int
    is_filtered: bool
    repeats: int | None = None


def _repeated(earlier: Sequence[AskedQuestion], reason: str) -> int | None:
    """Return the key of the earlier question that this one repeats, from the filter's reason."""
    number = reason.removeprefix(REPEATS) if reason.startswith(REPEATS) else ""
    if not number.isdecimal() or not 1 <= int(number) <= len(earlier):
        return None
    return earlier[int(number) - 1].pk


@dataclass(frozen=True, slots=True)
class TopicPlace:
    pk: int
    name: str
    group: str


@dataclass(frozen=True)
class Generations:
    """Reports and references of a dataset, or of one topic by key, or of one report by key.

    They are read topic by topic.

    Of several reports of a system on a topic the first by name with words counts, and its answers and values.
    """

    dataset: Dataset
    topic: int | None = None
    report: int | None = None

    @cached_property
    def _topics(self) -> QuerySet[Topic]:
        topics = Topic.objects.filter(dataset=self.dataset)
        return topics if self.topic is None else topics.filter(pk=self.topic)

    def _texts(self, kind: Text.Kind, system: str = "") -> QuerySet[Text]:
        return Text.objects.filter(
            dataset=self.dataset, kind=kind, system=system, topic__in=self._topics
        )

    @cached_property
    def topics(self) -> list[TopicPlace]:
        """In the order of the dataset."""
        rows = self._topics.order_by("position", "pk").values_list("pk", "name", "group")
        return [TopicPlace(*row) for row in rows]

    @cached_property
    def version(self) -> tuple[object, ...]:
        """Cache key of topic groups and report values, which `data_version` does not cover."""
        values = ReportValue.objects.filter(report__dataset=self.dataset)
        counted = values.aggregate(n=Count("pk"), newest=Max("pk"))
        return tuple(counted.values()), tuple(topic.group for topic in self.topics)

    @cached_property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Settings of systems by name: of systems with reports, and of those without."""
        return SHARED_CACHE.until_db_write(
            (CacheKey.SYSTEM_SETTINGS, self.dataset.pk), self._settings
        )

    def _settings(self) -> dict[str, dict[str, Any]]:
        reports = self.dataset.texts.filter(kind=Text.Kind.REPORT, topic__isnull=False).order_by()
        names = set(reports.values_list("system", flat=True).distinct())
        stored = dict(System.objects.filter(dataset=self.dataset).values_list("name", "settings"))
        return {name: stored.get(name, {}) for name in sorted(names | stored.keys())}

    @cached_property
    def written(self) -> frozenset[str]:
        """Names of the systems that have a report with a body."""
        reports = self.dataset.texts.with_body().filter(kind=Text.Kind.REPORT).exclude(body="")
        names = reports.order_by().values_list("system", flat=True).distinct()
        return SHARED_CACHE.until_db_write(
            (CacheKey.SYSTEMS_WITH_BODIES, self.dataset.pk), lambda: frozenset(names)
        )

    @cached_property
    def references(self) -> dict[int, str]:
        """Body of each topic's reference summary, where there is one."""
        texts = self._texts(Text.Kind.REFERENCE).filter(body__isnull=False)
        rows = texts.order_by("-name").values_list("topic_id", "body")
        return {topic: body for topic, body in rows if topic and body}

    def reports(self, system: str) -> dict[int, str]:
        """Return the body of a system's report on each topic, where it has one."""
        return {topic: body for topic, (_, body) in self._reports(system).items()}

    @cached_property
    def _reports(self) -> Callable[[str], dict[int, tuple[int, str]]]:
        """Key and body of the report that counts, by topic, of one system at a time."""
        return lru_cache(maxsize=1)(self._read_reports)

    def _read_reports(self, system: str) -> dict[int, tuple[int, str]]:
        texts = self._texts(Text.Kind.REPORT, system).filter(body__isnull=False)
        if self.report is not None:
            texts = texts.filter(pk=self.report)
        rows = texts.order_by("-name").values_list("topic_id", "pk", "body")
        return {topic: (pk, body) for topic, pk, body in rows if topic and body and body.strip()}

    def _counted(self, system: str) -> set[int]:
        return {pk for pk, _ in self._reports(system).values()}

    @cached_property
    def questions(self) -> dict[int, list[AskedQuestion]]:
        """By topic its questions in their order."""
        questions: dict[int, list[AskedQuestion]] = defaultdict(list)
        rows = SubQuestion.objects.filter(topic__in=self._topics).order_by("topic", "position")
        for topic, pk, reason in rows.values_list("topic_id", "pk", "filtered_because"):
            questions[topic].append(
                AskedQuestion(pk, bool(reason), _repeated(questions[topic], reason))
            )
        return questions

    @cached_property
    def answerers(self) -> list[Column]:
        """Raters who answered questions about reports, models first, then by name."""
        keys = set(self._rated(Text.Kind.REPORT).values_list("rater", flat=True).distinct())
        columns = [
            Column(rater.pk, name, rater.kind, JUDGE)
            for name, rater in raters_of(self.dataset).items()
            if rater.pk in keys
        ]
        return sorted(columns, key=lambda column: (column.is_person, column.name))

    def _rated(self, kind: Text.Kind) -> RatingQuerySet:
        rated = Rating.objects.of_dataset(self.dataset).filter(
            rubric__slug=ANSWERED.slug, text__kind=kind, question__topic__in=self._topics
        )
        if self.report is not None and kind == Text.Kind.REPORT:
            rated = rated.filter(text=self.report)
        return rated.order_by()

    def answers(self, rater: int, kind: Text.Kind, system: str = "") -> Answers:
        """Return a rater's answers in the references, or in the reports of a system."""
        rated = self._rated(kind).filter(rater=rater, text__system=system)
        spans = NuggetSpan.objects.filter(rating__in=rated).order_by("rating", "position")
        quotes: dict[int, list[str]] = defaultdict(list)
        for rating, quote, source in spans.values_list("rating_id", "quote", "source_quote"):
            quotes[rating].append(source or quote)
        answers: Answers = defaultdict(dict)
        counted = self._counted(system) if kind == Text.Kind.REPORT else None
        rows = rated.order_by("-text__name").values_list(
            "pk", "text_id", "question__topic_id", "question_id", "grade"
        )
        for pk, text, topic, question, grade in rows:
            if counted is None or text in counted:
                answers[topic][question] = ELISION.join(quotes[pk]) if grade else None
        return answers

    def values(self, system: str) -> dict[str, dict[int, float]]:
        """Return externally computed values of a system's reports, by measure and topic."""
        values: dict[str, dict[int, float]] = defaultdict(dict)
        texts = self._texts(Text.Kind.REPORT, system)
        rows = ReportValue.objects.filter(report__in=texts).order_by()
        counted = self._counted(system)
        for measure, report, topic, value in rows.values_list(
            "measure", "report_id", "report__topic_id", "value"
        ):
            if report in counted:
                values[measure][topic] = value
        return values
