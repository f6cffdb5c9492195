"""Overview of a dataset: counts and rating coverage, aggregated in the database.

The number of queries does not depend on the dataset, and no rating is read one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Count, F, Q

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from annotation.models.rating import raters_of
from annotation.models.standard import ANSWERABLE, IMPORTANCE, NUGGET_SUPPORT
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import Column
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.models import RankedText

KINDS = {"passage": "passages", "report": "reports", "reference": "reference summaries"}


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """Numbers of a topic's questions: all, filtered, and without a body."""

    n: int = 0
    n_filtered: int = 0
    n_without_words: int = 0


@dataclass(frozen=True, slots=True)
class TopicCounts:
    topic: Topic
    questions: QuestionCounts
    n_passages: int
    n_reports: int


@dataclass(frozen=True, slots=True)
class TextCounts:
    kind: str
    system: str
    n: int
    n_without_words: int


@dataclass(frozen=True, slots=True)
class RatingCoverage:
    """Rating coverage: cells of texts of one kind that a rater rated under one rubric.

    `possible` counts the pairs of a text and a question: of the topic that the text belongs to, and
    of every topic that a run or a rating brings it into. `n` of them are rated. Where reports are
    read for what they answer, filtered questions are not asked: there they are not possible, and
    `n_filtered` ratings of them are left out of `n`. Grades of passages on them count, but for
    questions without words, which nobody is asked.
    """

    rater: Column
    rubric: Rubric
    kind: str
    n: int
    possible: int
    n_filtered: int
    n_texts: int
    of_texts: int

    @property
    def texts(self) -> str:
        return KINDS[self.kind]


@dataclass(frozen=True)
class Overview:
    """A dataset in numbers. `fills` are in the order of rubrics, people before models."""

    question_counts: Mapping[int, QuestionCounts]
    """By topic."""
    text_counts: Mapping[tuple[int, str], int]
    """Texts of a topic and a kind."""
    texts: Sequence[TextCounts]
    fills: Sequence[RatingCoverage]

    @property
    def n_questions(self) -> int:
        return sum(counts.n for counts in self.question_counts.values())

    @property
    def n_filtered(self) -> int:
        return sum(counts.n_filtered for counts in self.question_counts.values())

    @property
    def n_by_kind(self) -> list[tuple[str, int]]:
        """Return the label and the number of texts of each kind that occurs."""
        n = Counter[str]()
        for row in self.texts:
            n[row.kind] += row.n
        return [(label, n[kind]) for kind, label in KINDS.items() if n[kind]]

    @property
    def by_rubric(self) -> list[tuple[Rubric, list[RatingCoverage]]]:
        return [(rubric, list(rows)) for rubric, rows in groupby(self.fills, lambda f: f.rubric)]

    @property
    def is_comparable(self) -> bool:
        """True if two people, or a person and a model, have rated: agreement needs two."""
        people = {fill.rater.pk for fill in self.fills if fill.rater.is_person}
        judges = {fill.rater.pk for fill in self.fills if fill.rater.is_judge}
        return len(people) > 1 or bool(people and judges)

    @property
    def has_rated_passages(self) -> bool:
        """True if passages are graded: retrieval is scored with such grades."""
        return any(fill.kind == Text.Kind.PASSAGE for fill in self.fills)

    @property
    def has_rated_reports(self) -> bool:
        """True if reports are rated: samples to label next are of reports."""
        return any(fill.kind == Text.Kind.REPORT for fill in self.fills)

    @property
    def has_reports(self) -> bool:
        return any(row.kind == Text.Kind.REPORT for row in self.texts)

    @property
    def has_nuggets(self) -> bool:
        """True if the importance or the support of nuggets is rated."""
        return any(
            fill.rubric.slug in (IMPORTANCE.slug, NUGGET_SUPPORT.slug) for fill in self.fills
        )

    @property
    def has_generations(self) -> bool:
        """True if there are reports to compare with reference summaries."""
        return {Text.Kind.REPORT, Text.Kind.REFERENCE} <= {row.kind for row in self.texts}

    def counted(self, topics: Iterable[Topic]) -> list[TopicCounts]:
        """Return the counts of these topics."""
        return [
            TopicCounts(
                topic,
                self.question_counts.get(topic.pk, QuestionCounts()),
                self.text_counts.get((topic.pk, Text.Kind.PASSAGE), 0),
                self.text_counts.get((topic.pk, Text.Kind.REPORT), 0),
            )
            for topic in topics
        ]


def overview(dataset: Dataset) -> Overview:
    """Return the overview of a dataset, in seven queries; cached until the next write."""
    return SHARED_CACHE.until_db_write(
        (CacheKey.DATASET_OVERVIEW, dataset.pk), lambda: _counted(dataset)
    )


def _counted(dataset: Dataset) -> Overview:
    questions = _question_counts(dataset)
    texts = dataset.texts.order_by()
    n_texts_of = {
        (topic, kind): n
        for topic, kind, n in texts.exclude(topic=None)
        .values_list("topic_id", "kind")
        .annotate(n=Count("pk"))
    }
    rows = [
        TextCounts(*row)
        for row in texts.values_list("kind", "system")
        .annotate(n=Count("pk"), n_without_words=Count("pk", filter=Q(body__isnull=True)))
        .order_by("kind", "system")
    ]
    return Overview(
        question_counts=questions,
        text_counts=n_texts_of,
        texts=rows,
        fills=_fills(dataset, questions, n_texts_of, rows),
    )


def _question_counts(dataset: Dataset) -> dict[int, QuestionCounts]:
    rows = (
        SubQuestion.objects.filter(topic__dataset=dataset)
        .order_by()
        .values_list("topic_id")
        .annotate(
            n=Count("pk"),
            n_filtered=Count("pk", filter=~Q(filtered_because="")),
            n_without_words=Count("pk", filter=Q(body="")),
        )
    )
    return {topic: QuestionCounts(*counts) for topic, *counts in rows}


def _fills(
    dataset: Dataset,
    questions: Mapping[int, QuestionCounts],
    n_texts_of: Mapping[tuple[int, str], int],
    texts: Iterable[TextCounts],
) -> list[RatingCoverage]:
    cells, open_cells = Counter[str](), Counter[str]()
    for (topic, kind), n in [*n_texts_of.items(), *_visits(dataset).items()]:
        of_topic = questions.get(topic, QuestionCounts())
        cells[kind] += n * (of_topic.n - of_topic.n_without_words)
        open_cells[kind] += n * (of_topic.n - of_topic.n_filtered)
    n_of = Counter[str]()
    for row in texts:
        n_of[row.kind] += row.n
    columns = {
        rater.pk: Column(rater.pk, name, rater.kind, 0)
        for name, rater in raters_of(dataset).items()
    }
    rubrics = {rubric.pk: rubric for rubric in Rubric.objects.all()}
    rated = (
        Rating.objects.of_dataset(dataset)
        .order_by()
        .values_list("rubric_id", "rater_id", "text__kind")
        .annotate(
            n=Count("pk"),
            n_filtered=Count("pk", filter=~Q(question__filtered_because="")),
            n_unasked=Count("pk", filter=Q(question__body="")),
            n_texts=Count("text", distinct=True),
        )
    )
    fills = []
    for rubric, rater, kind, n, n_filtered, n_unasked, n_texts in rated:
        asks_all = rubrics[rubric].slug != ANSWERABLE.slug
        fills.append(
            RatingCoverage(
                rater=columns[rater],
                rubric=rubrics[rubric],
                kind=kind,
                n=n - (n_unasked if asks_all else n_filtered),
                possible=(cells if asks_all else open_cells)[kind],
                n_filtered=0 if asks_all else n_filtered,
                n_texts=n_texts,
                of_texts=n_of[kind],
            )
        )
    kinds = list(Rater.Kind)
    return sorted(
        fills,
        key=lambda f: (f.rubric.slug, kinds.index(Rater.Kind(f.rater.kind)), f.rater.name, f.kind),
    )


def _visits(dataset: Dataset) -> Counter[tuple[int, str]]:
    """Count texts that a run or a rating brings into another topic, by topic and kind."""
    ranked = RankedText.objects.filter(run__dataset=dataset).exclude(text__topic=F("topic"))
    rated = Rating.objects.of_dataset(dataset).exclude(text__topic=F("question__topic"))
    visits = (
        ranked.order_by()
        .values_list("topic_id", "text_id", "text__kind")
        .union(rated.order_by().values_list("question__topic_id", "text_id", "text__kind"))
    )
    return Counter((topic, kind) for topic, _, kind in visits)
