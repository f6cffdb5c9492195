"""Overview of a dataset: counts, rating coverage and disagreements.

The number of queries does not depend on the dataset. All ratings are read once, as arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import Count, F, Q
from django.db.models.functions import Coalesce

from annotation.models import Dataset, Rater, Rubric, SubQuestion, Text, Topic
from annotation.models.rating import raters_of
from annotation.models.standard import ANSWERABLE
from crux_site.datasets.disagreements import Disagreements, differing_pairs
from evaluation.data.cache import until_content_changes
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import Column, independent
from evaluation.data.number_lists import (
    Columns,
    NumberList,
    RatingLists,
    distinct,
    join_lists,
    pair_keys,
    parse_numbers,
    rating_lists,
    split_pairs,
)
from evaluation.data.process_cache import OVERVIEW_CONTENTS, SHARED_CACHE
from evaluation.data.ratings import ratings_of
from evaluation.models import RankedText
from evaluation.stats.estimate import IntArray

KINDS = {"passage": "passages", "report": "reports", "reference": "reference summaries"}
_NO_TOPIC = 0  # of a text; no key


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
    disagreements: Mapping[int, Disagreements]
    """By the key of the rubric."""
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
    """Return the overview of a dataset, in a dozen queries; cached until the next write."""
    return SHARED_CACHE.until_db_write(
        (CacheKey.DATASET_OVERVIEW, dataset.pk), lambda: _counted(dataset)
    )


def _counted(dataset: Dataset) -> Overview:
    columns = {
        rater.pk: Column(rater.pk, name, rater.kind, 0, rater.is_adjudicator)
        for name, rater in raters_of(dataset).items()
    }
    groups = list(rating_lists(ratings_of(dataset, columns), with_newest=True))
    # After the ratings: it must have their texts and questions.
    content = until_content_changes(OVERVIEW_CONTENTS, dataset, (), lambda: _Content(dataset))
    visits = Counter(
        (topic, kind) for topic, _, kind in {*content.visits_of_runs, *content.visits(groups)}
    )
    fills = _fills(columns, groups, content, _possible_pairs(content, visits))
    by_people = join_lists(group for group in groups if columns[group.rater].is_person)
    adjudicators = [column.pk for column in columns.values() if column.is_adjudicator]
    differing = differing_pairs(by_people, adjudicators, content.filtered)
    return Overview(
        question_counts=content.question_counts,
        text_counts=content.text_counts,
        texts=content.text_rows,
        fills=fills,
        people_coverage=_people_coverage(by_people, content, fills),
        disagreements={rubric: pairs.count() for rubric, pairs in differing.items()},
        last_rated=max((group.newest for group in groups if group.newest), default=None),
    )


class _Content:
    """Counts of texts and questions, and the kind and the topic of each; no ratings."""

    def __init__(self, dataset: Dataset) -> None:
        self.question_counts = _question_counts(dataset)
        texts = dataset.texts.order_by()
        self.text_counts = {
            (topic, kind): n
            for topic, kind, n in texts.exclude(topic=None)
            .values_list("topic_id", "kind")
            .annotate(n=Count("pk"))
        }
        self.text_rows = [
            TextCounts(*row)
            for row in texts.values_list("kind", "system")
            .annotate(n=Count("pk"), n_without_words=Count("pk", filter=Q(body__isnull=True)))
            .order_by("kind", "system")
        ]
        ranked = RankedText.objects.filter(run__dataset=dataset).exclude(text__topic=F("topic"))
        self.visits_of_runs = set(
            ranked.order_by().values_list("topic_id", "text_id", "text__kind").distinct()
        )
        """Topic, text and its kind where a run brings a text into another topic."""
        text_lists = list(
            texts.values_list("kind").annotate(
                keys=NumberList("pk"), topics=NumberList(Coalesce("topic_id", _NO_TOPIC))
            )
        )
        self.kinds = [kind for kind, *_ in text_lists]
        keys, topics, kinds = (
            np.concatenate([np.zeros(0, np.int64), *parts])
            for parts in (
                [parse_numbers(keys) for _, keys, _ in text_lists],
                [parse_numbers(topics) for *_, topics in text_lists],
                [
                    np.full(keys.count(",") + 1, kind)
                    for kind, (_, keys, _) in enumerate(text_lists)
                ],
            )
        )
        order = keys.argsort()
        self._texts, self._topics, self._kinds = keys[order], topics[order], kinds[order]
        questions = SubQuestion.objects.filter(topic__dataset=dataset).order_by()
        rows = sorted(questions.values_list("pk", "topic_id"))
        self._questions, self._question_topics = np.array(rows, np.int64).reshape(-1, 2).T
        self.filtered = list(questions.exclude(filtered_because="").values_list("pk", flat=True))
        self.without_words = list(questions.filter(body="").values_list("pk", flat=True))

    def kind(self, text: IntArray) -> IntArray:
        """Return the index in `kinds` of each text."""
        return self._kinds[np.searchsorted(self._texts, text)]

    def visits(self, groups: Iterable[RatingLists]) -> Iterator[tuple[int, int, str]]:
        """Yield topic, text and its kind where a rating brings a text into another topic."""
        for group in groups:
            text, question = group.columns["text"], group.columns["question"]
            topic = self._question_topics[np.searchsorted(self._questions, question)]
            is_visit = topic != self._topics[np.searchsorted(self._texts, text)]
            kinds = self.kind(text[is_visit]).tolist()
            for topic_key, key, kind in zip(
                topic[is_visit].tolist(), text[is_visit].tolist(), kinds, strict=True
            ):
                yield topic_key, key, self.kinds[kind]


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
    content: _Content, visits: Mapping[tuple[int, str], int]
) -> tuple[Counter[str], Counter[str]]:
    """Count the pairs by kind of text: of all questions with a body, and of unfiltered ones.

    `visits` has the number of texts of a kind that a run or a rating brings into another topic.
    """
    cells, open_cells = Counter[str](), Counter[str]()
    for (topic, kind), n in [*content.text_counts.items(), *visits.items()]:
        of_topic = content.question_counts.get(topic, QuestionCounts())
        cells[kind] += n * (of_topic.n - of_topic.n_without_words)
        open_cells[kind] += n * (of_topic.n - of_topic.n_filtered)
    return cells, open_cells


def _fills(
    columns: Mapping[int, Column],
    groups: Iterable[RatingLists],
    content: _Content,
    possible: tuple[Counter[str], Counter[str]],
) -> list[RatingCoverage]:
    cells, open_cells = possible
    n_of = Counter[str]()
    for row in content.text_rows:
        n_of[row.kind] += row.n
    rubrics = {rubric.pk: rubric for rubric in Rubric.objects.all()}
    fills = []
    for group in groups:
        rubric, rater = rubrics[group.rubric], columns[group.rater]
        asks_all = rubric.slug != ANSWERABLE.slug
        kinds_of_texts = content.kind(group.columns["text"])
        for index in distinct(kinds_of_texts).tolist():
            used, kind = kinds_of_texts == index, content.kinds[index]
            question = group.columns["question"][used]
            n_filtered = int(np.isin(question, content.filtered).sum())
            n_unasked = int(np.isin(question, content.without_words).sum())
            fills.append(
                RatingCoverage(
                    rater=rater,
                    rubric=rubric,
                    kind=kind,
                    n=len(question) - (n_unasked if asks_all else n_filtered),
                    possible=(cells if asks_all else open_cells)[kind],
                    n_filtered=0 if asks_all else n_filtered,
                    n_texts=len(distinct(group.columns["text"][used])),
                    of_texts=n_of[kind],
                )
            )
    kinds = list(Rater.Kind)
    return sorted(
        fills,
        key=lambda f: (f.rubric.slug, kinds.index(Rater.Kind(f.rater.kind)), f.rater.name, f.kind),
    )


def _people_coverage(
    by_people: Columns, content: _Content, fills: Sequence[RatingCoverage]
) -> list[PeopleCoverage]:
    """Return the coverage by all people together, in the order of `fills`."""
    groups = {(f.rubric.pk, f.kind): f for f in fills if f.rater.is_person}
    kinds = content.kind(by_people["text"])
    n_pairs: dict[tuple[int, str], tuple[int, int]] = {}
    for rubric, kind in groups:
        used = (by_people["rubric"] == rubric) & (kinds == content.kinds.index(kind))
        pairs = distinct(pair_keys(by_people["text"][used], by_people["question"][used]))
        _, question = split_pairs(pairs)
        n_pairs[rubric, kind] = (
            int((~np.isin(question, content.without_words)).sum()),
            int((~np.isin(question, content.filtered)).sum()),
        )
    return [
        PeopleCoverage(
            fill.rubric,
            fill.kind,
            n_pairs[group][fill.rubric.slug == ANSWERABLE.slug],
            fill.possible,
        )
        for group, fill in groups.items()
    ]
