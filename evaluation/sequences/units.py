"""Units of label sequences: pairs or topics, with values of the judge and of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db.models import F

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import EXPOSED
from evaluation.data.selection import Selection, threshold
from evaluation.models import LabelSequence

PairKey = tuple[int, int]  # keys of text and question


class WeightedPair(NamedTuple):
    """Pair of a unit, with its weight in the unit's value; `judge` is 0 or 1 (answerable)."""

    text: int
    question: int
    weight: float
    judge: int


@dataclass(frozen=True)
class Unit:
    """Pair of a mean, or topic of an order; its value is the weighted sum over its pairs."""

    topic: int
    pairs: tuple[WeightedPair, ...]

    @property
    def judge(self) -> float:
        return sum(pair.weight * pair.judge for pair in self.pairs)

    def people(self, values: Mapping[PairKey, float]) -> float | None:
        """Return people's value, None until all pairs have one."""
        total = 0.0
        for pair in self.pairs:
            value = values.get((pair.text, pair.question))
            if value is None:
                return None
            total += pair.weight * value
        return total

    def as_json(self) -> list[Any]:
        return [self.topic, [list(pair) for pair in self.pairs]]


def units_of(sequence: LabelSequence) -> list[Unit]:
    """Return the units of a stored sequence in their order."""
    return [
        Unit(topic, tuple(WeightedPair(*pair) for pair in pairs)) for topic, pairs in sequence.units
    ]


def pair_units(selection: Selection, system: str) -> list[Unit]:
    """Return each pair of the reports of a system, or of all (""), that the judge graded."""
    return [
        Unit(row.topic, (WeightedPair(row.text, row.question, 1.0, row.answerable),))
        for row in _judged_pairs(selection)
        if system in ("", row.system)
    ]


def topic_units(selection: Selection, system: str, other_system: str) -> list[Unit]:
    """Return the topics in which the judge graded all reports of both systems throughout.

    The value is the coverage of the first system less that of the second.
    """
    questions = SubQuestion.objects.filter(
        topic__dataset=selection.dataset, filtered_because=""
    ).values_list("topic", "pk")
    questions_of_topic: dict[int, set[int]] = defaultdict(set)
    for topic, question in questions:
        questions_of_topic[topic].add(question)
    reports: dict[tuple[int, str], set[int]] = defaultdict(set)
    written = Text.objects.filter(
        dataset=selection.dataset, kind=Text.Kind.REPORT, system__in=(system, other_system)
    ).exclude(topic=None)
    for topic, name, text in written.values_list("topic", "system", "pk"):
        reports[topic, name].add(text)
    judged: dict[int, list[_JudgedPair]] = defaultdict(list)
    for row in _judged_pairs(selection):
        if row.system in (system, other_system):
            judged[row.topic].append(row)
    units = []
    for topic, rows in judged.items():
        counts = [
            len(reports[topic, name]) * len(questions_of_topic[topic])
            for name in (system, other_system)
        ]
        if len(rows) == sum(counts) and all(counts):
            weights = {system: 1 / counts[0], other_system: -1 / counts[1]}
            units.append(
                Unit(
                    topic,
                    tuple(
                        WeightedPair(row.text, row.question, weights[row.system], row.answerable)
                        for row in rows
                    ),
                )
            )
    return units


class _JudgedPair(NamedTuple):
    topic: int
    text: int
    question: int
    system: str
    answerable: int


def _judged_pairs(selection: Selection) -> Iterator[_JudgedPair]:
    """Yield the pairs of reports with a grade of the judge, in the order of the dataset."""
    assert selection.judge is not None
    grades = (
        Rating.objects.of_dataset(selection.dataset)
        .filter(
            rater=selection.judge.pk,
            rubric=selection.judge_rubric,
            text__kind=Text.Kind.REPORT,
            text__body__isnull=False,
            question__filtered_because="",
            question__topic=F("text__topic"),
        )
        .order_by("text__topic__position", "text__topic", "text", "question")
    )
    limit = selection.judge_threshold
    for topic, text, question, system, grade in grades.values_list(
        "text__topic", "text", "question", "text__system", "grade"
    ):
        yield _JudgedPair(topic, text, question, system, int(grade >= limit))


def people_values(
    dataset: Dataset, rubric: Rubric, eta: int | None, n_people: int = 1
) -> dict[PairKey, float]:
    """Return the share of people who called a pair answerable, of its first `n_people` grades.

    Only pairs with so many grades. Grades are left out that people gave after they had seen those of
    others, and those of adjudicators.
    """
    ratings = (
        Rating.objects.of_dataset(dataset)
        .filter(
            rubric=rubric,
            rater__kind=Rater.Kind.HUMAN,
            rater__is_adjudicator=False,
            text__kind=Text.Kind.REPORT,
        )
        .exclude(exposure__in=EXPOSED)
        .order_by("created", "pk")
    )
    limit = threshold(rubric, eta)
    grades: dict[PairKey, list[bool]] = defaultdict(list)
    for text, question, grade in ratings.values_list("text", "question", "grade"):
        grades[text, question].append(grade >= limit)
    return {
        pair: float(np.mean(of_pair[:n_people]))
        for pair, of_pair in grades.items()
        if len(of_pair) >= n_people
    }


def n_pairs(units: Sequence[Unit]) -> int:
    return sum(len(unit.pairs) for unit in units)
