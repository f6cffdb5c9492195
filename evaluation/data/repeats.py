"""Grades of repeats: pairs that a person graded twice in a campaign, as arrays."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from annotation.models import Answer, Campaign, Rubric
from evaluation.data.answers import CHUNK
from evaluation.stats.cohen import Weights
from evaluation.stats.estimate import FloatArray, IntArray
from evaluation.stats.intra_rater import IntraRater, intra_rater


@dataclass(frozen=True)
class RepeatedGrades:
    """First and second grades: one entry for each pair of a text and a question, by rater.

    The first is the grade that stood when the second was given for the first time, so that a first
    grade which was edited to match is not an agreement. The second is the newest.
    """

    rubric: Rubric
    rater: IntArray
    topic: IntArray
    first: FloatArray
    second: FloatArray

    @property
    def weights(self) -> Weights:
        """Weights of kappa: quadratic on a scale of several ordered grades, else none."""
        return "quadratic" if len(self.levels) > 2 and self.rubric.has_order else None

    @property
    def levels(self) -> list[int]:
        grades = {*self.first.astype(int).tolist(), *self.second.astype(int).tolist()}
        return sorted(grades | set(self.rubric.scale_grades()))

    def agreement(self, rater: int | None = None) -> IntraRater:
        """Return the agreement of a rater, by key, with themselves; None: pooled over all."""
        mask: NDArray[np.bool_] = np.ones(len(self.rater), dtype=bool)
        if rater is not None:
            mask = self.rater == rater
        return intra_rater(
            self.first[mask], self.second[mask], self.levels, self.topic[mask], self.weights
        )


def repeated_grades(campaigns: Collection[Campaign], rubric: Rubric) -> RepeatedGrades:
    """Return the grades of these campaigns that were given twice under a rubric and count.

    Excluded work is left out, as is a pair whose second grade was given without a first one.
    """
    under_rubric = Q(rubric=None, assignment__participant__campaign__rubric=rubric) | Q(
        rubric=rubric
    )
    repeated = Q(assignment__repeats__isnull=False) | Q(assignment__repeat__isnull=False)
    rows = (
        Answer.objects.filter(
            under_rubric,
            repeated,
            assignment__participant__campaign__in=campaigns,
            question__isnull=False,
            late=Answer.Late.NO,
        )
        .order_by("pk")
        .values_list(
            *("assignment", "assignment__repeats", "question", "grade"),
            *("assignment__participant__rater", "assignment__item__text__topic"),
        )
    )
    first: dict[tuple[int, int], int | None] = {}
    second: dict[tuple[int, int], tuple[int | None, int, int]] = {}
    for assignment, repeats, question, grade, rater, topic in rows.iterator(chunk_size=CHUNK):
        if repeats:
            second[repeats, question] = grade, rater, topic or 0
        elif (assignment, question) not in second:
            first[assignment, question] = grade
    pairs = [
        (rater, topic, grade, second_grade)
        for pair, (second_grade, rater, topic) in second.items()
        if (grade := first.get(pair)) is not None and second_grade is not None
    ]
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 4).T
    return RepeatedGrades(
        rubric, columns[0], columns[1], columns[2].astype(np.float64), columns[3].astype(np.float64)
    )
