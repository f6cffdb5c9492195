"""Distribution of each rater's grades, overall and by system."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement.parts import NO_RATINGS
from evaluation.data.columns import Column
from evaluation.data.measures import Measures
from evaluation.data.ratings import RatingMatrix
from evaluation.data.selection import Selection
from evaluation.stats.clusters import means_of_counts
from evaluation.stats.estimate import Estimate, FloatArray, IntArray, level_index

ALL_SYSTEMS = "all"


@dataclass(frozen=True, eq=False)
class GradesOf:
    """The grades that one rater gave to the texts of one system, or to all.

    `by_topic` is topics x `levels`, of the topics with a grade. The shares and the mean are computed when
    they are first read: a study of 20 raters and 50 systems has a thousand rows, and its page shows 30.
    Intervals: jackknife over topics.
    """

    rater: Column
    system: str
    levels: tuple[int, ...]
    by_topic: NDArray[np.int32]
    measures: Measures

    @property
    def n(self) -> int:
        return int(self.by_topic.sum())

    @property
    def counts(self) -> Mapping[int, int]:
        """The number of ratings with each grade of the rubric."""
        return dict(zip(self.levels, self.by_topic.sum(axis=0).tolist(), strict=True))

    @cached_property
    def shares(self) -> tuple[Estimate, ...]:
        """The share of the ratings that each grade has, in the order of `counts`."""
        shares = self._means(np.eye(len(self.levels)))
        return tuple(share.within(0, 1) for share in shares)

    @cached_property
    def mean(self) -> Estimate:
        """The mean grade, undefined where grades are names."""
        if "mean_grade" not in self.measures:
            return self.measures.none("mean_grade")
        mean = self._means(np.array([self.levels], dtype=np.float64))[0]
        return mean.within(min(self.levels), max(self.levels))

    def _means(self, values: FloatArray) -> list[Estimate]:
        return means_of_counts(self.by_topic.astype(np.int64), values, NO_RATINGS)

    @property
    def cells(self) -> list[tuple[int, int, Estimate]]:
        """Each grade with its count and its share."""
        return [
            (grade, count, part)
            for (grade, count), part in zip(self.counts.items(), self.shares, strict=True)
        ]


def grades_given(matrix: RatingMatrix) -> tuple[GradesOf, ...]:
    """Return grade counts by rater, all systems first, then each system.

    The judge comes last, if it grades on the same levels.
    """
    selection, columns = matrix.selection, matrix.level_columns
    raters = list(zip(selection.raters, columns.positions.T, strict=True))
    rater_ids = {rater.pk for rater in selection.raters}
    if selection.judge and selection.one_scale and selection.judge.pk not in rater_ids:
        raters.append((selection.judge, level_index(matrix.judge, matrix.levels)))
    systems = matrix.systems if len(matrix.systems) > 1 else []
    shape = (len(matrix.systems), columns.n_topics, len(matrix.levels))
    system_and_topic = matrix.system_index * columns.n_topics + columns.topic
    rows = []
    for rater, positions in raters:
        rated = np.flatnonzero(positions >= 0)
        cells = system_and_topic[rated] * len(matrix.levels) + positions[rated]
        by_system = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
        rows.append(_grades_of(selection, rater, ALL_SYSTEMS, by_system.sum(axis=0)))
        rows += [
            _grades_of(selection, rater, system, by_topic)
            for system, by_topic in zip(systems, by_system, strict=False)  # none where there is one
        ]
    return tuple(rows)


def _grades_of(selection: Selection, rater: Column, system: str, by_topic: IntArray) -> GradesOf:
    graded = by_topic[by_topic.any(axis=1)].astype(np.int32)  # half the memory of int64
    return GradesOf(rater, system, selection.levels, graded, selection.measures)
