"""Overview of a dataset: counts and rating coverage, aggregated in the database.

The number of queries does not depend on the dataset, and no rating is read one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max, Q, QuerySet

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic
from annotation.models.rating import raters_of
from annotation.models.standard import ANSWERABLE
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import Column, independent
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


@dataclass(frozen=True, slots=True)
class PeopleCoverage:
    """Pairs of texts of one kind that people graded under one rubric, each pair once.

    `possible` counts as RatingCoverage does.
    """

    rubric: Rubric
    kind: str
    n: int
    possible: int

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
    people_coverage: Sequence[PeopleCoverage]
    last_rated: datetime | None
    """Time of the newest grade."""

    @property
    def people_fills(self) -> list[RatingCoverage]:
        """Return the coverage of each person, adjudicators included."""
        return [fill for fill in self.fills if fill.rater.is_person]

    @property
    def judge_fills(self) -> list[RatingCoverage]:
        """Return the coverage of each model and baseline."""
        return [fill for fill in self.fills if fill.rater.is_judge]

    @property
    def aggregate_fills(self) -> list[RatingCoverage]:
        return [fill for fill in self.fills if fill.rater.kind == Rater.Kind.AGGREGATE]

    @property
    def n_people(self) -> int:
        """Return the number of people who graded on their own: adjudicators saw other grades."""
        return len({column.pk for column in independent(fill.rater for fill in self.fills)})

    @property
    def n_judges(self) -> int:
        return len({fill.rater.pk for fill in self.judge_fills})

    @property
    def n_texts(self) -> int:
        return sum(row.n for row in self.texts)

    @property
    def graded_by_people(self) -> tuple[int, int]:
        """Return the pairs that people graded, and those possible where anybody of them did."""
        rows = self.people_coverage
        return sum(row.n for row in rows), sum(row.possible for row in rows)

    @property
    def fullest_judge_fills(self) -> list[RatingCoverage]:
        """Return the coverage of the judge with most grades, for each rubric and kind of text."""
        fullest: dict[tuple[str, str], RatingCoverage] = {}
        for fill in self.judge_fills:
            group = fill.rubric.slug, fill.kind
            if group not in fullest or fill.n > fullest[group].n:
                fullest[group] = fill
        return list(fullest.values())

    @property
    def graded_by_judge(self) -> tuple[int, int]:
        """Return the pairs that these judges graded, and those possible."""
        rows = self.fullest_judge_fills
        return sum(row.n for row in rows), sum(row.possible for row in rows)

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
    def is_comparable(self) -> bool:
        """True if two people, or a person and a model, have rated: agreement needs two."""
        return self.n_people > 1 or bool(self.n_people and self.n_judges)

    @property
    def has_rated_passages(self) -> bool:
        """True if passages are graded: retrieval is scored with such grades."""
        return any(fill.kind == Text.Kind.PASSAGE for fill in self.fills)

    @property
    def has_rated_reports(self) -> bool:
        """True if reports are rated: samples to label next are of reports."""
        return any(fill.kind == Text.Kind.REPORT for fill in self.fills)

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
    """Return the overview of a dataset, in eight queries; cached until the next write."""
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
    rated = Rating.objects.of_dataset(dataset).order_by()
    cells = _possible_pairs(dataset, questions, n_texts_of)
    fills = _fills(dataset, rated, cells, rows)
    return Overview(
        question_counts=questions,
        text_counts=n_texts_of,
        texts=rows,
        fills=fills,
        people_coverage=_people_coverage(rated, fills),
        last_rated=rated.aggregate(last=Max("created"))["last"],
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


def _possible_pairs(
    dataset: Dataset,
    questions: Mapping[int, QuestionCounts],
    n_texts_of: Mapping[tuple[int, str], int],
) -> tuple[Counter[str], Counter[str]]:
    """Count the pairs by kind of text: of all questions with a body, and of unfiltered ones."""
    cells, open_cells = Counter[str](), Counter[str]()
    for (topic, kind), n in [*n_texts_of.items(), *_visits(dataset).items()]:
        of_topic = questions.get(topic, QuestionCounts())
        cells[kind] += n * (of_topic.n - of_topic.n_without_words)
        open_cells[kind] += n * (of_topic.n - of_topic.n_filtered)
    return cells, open_cells


def _fills(
    dataset: Dataset,
    ratings: QuerySet[Rating],
    possible: tuple[Counter[str], Counter[str]],
    texts: Iterable[TextCounts],
) -> list[RatingCoverage]:
    cells, open_cells = possible
    n_of = Counter[str]()
    for row in texts:
        n_of[row.kind] += row.n
    columns = {
        rater.pk: Column(rater.pk, name, rater.kind, 0, rater.is_adjudicator)
        for name, rater in raters_of(dataset).items()
    }
    rubrics = {rubric.pk: rubric for rubric in Rubric.objects.all()}
    rated = ratings.values_list("rubric_id", "rater_id", "text__kind").annotate(
        n=Count("pk"),
        n_filtered=Count("pk", filter=~Q(question__filtered_because="")),
        n_unasked=Count("pk", filter=Q(question__body="")),
        n_texts=Count("text", distinct=True),
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


def _people_coverage(
    ratings: QuerySet[Rating], fills: Sequence[RatingCoverage]
) -> list[PeopleCoverage]:
    """Return the coverage by all people together, in the order of `fills`."""
    groups = {(f.rubric.pk, f.kind): f for f in fills if f.rater.is_person}
    pair = F("text_id") * _PAIR_FACTOR + F("question_id")
    n_pairs = {
        (rubric, kind): (n_asked, n_open)
        for rubric, kind, n_asked, n_open in ratings.filter(rater__kind=Rater.Kind.HUMAN)
        .values_list("rubric_id", "text__kind")
        .annotate(
            n_asked=Count(pair, distinct=True, filter=~Q(question__body="")),
            n_open=Count(pair, distinct=True, filter=Q(question__filtered_because="")),
        )
    }
    return [
        PeopleCoverage(
            fill.rubric,
            fill.kind,
            n_pairs[group][fill.rubric.slug == ANSWERABLE.slug],
            fill.possible,
        )
        for group, fill in groups.items()
    ]


_PAIR_FACTOR = 2**31  # above every key of a question, so that two pairs are never one number


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
