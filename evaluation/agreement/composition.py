"""What the grades of each rater are made of, in all and on the texts of each system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.agreement.parts import NO_RATINGS
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.stats.clusters import mean_of_items, share
from evaluation.stats.estimate import Estimate

ALL = "all"


@dataclass(frozen=True, slots=True)
class GradesOf:
    """The grades that one rater gave to the texts of one system, or to all.

    `counts` has every grade of the rubric, and `shares` their share of the ratings, in the same order;
    `mean` is undefined where grades are names. Intervals: jackknife over topics.
    """

    rater: Column
    system: str
    n: int
    counts: Mapping[int, int]
    shares: tuple[Estimate, ...]
    mean: Estimate

    @property
    def cells(self) -> list[tuple[int, int, Estimate]]:
        """Each grade with its count and its share."""
        return [
            (grade, count, part)
            for (grade, count), part in zip(self.counts.items(), self.shares, strict=True)
        ]


def grades_given(matrix: RatingMatrix) -> tuple[GradesOf, ...]:
    """Of each rater, and last of the judge on the same levels: all grades first, then by system."""
    selection = matrix.selection
    columns = list(zip(selection.raters, matrix.grades.T, strict=True))
    taken = {rater.pk for rater in selection.raters}
    if selection.judge and selection.one_scale and selection.judge.pk not in taken:
        columns.append((selection.judge, matrix.judge))
    systems = matrix.systems if len(matrix.systems) > 1 else []
    rows = []
    for rater, given in columns:
        for system in (ALL, *systems):
            here = ~np.isnan(given)
            if system != ALL:
                here &= matrix.system == system
            grades, topics = given[here], matrix.topic[here]
            every = np.ones(len(grades))
            rows.append(
                GradesOf(
                    rater=rater,
                    system=system,
                    n=len(grades),
                    counts={level: int((grades == level).sum()) for level in selection.levels},
                    shares=tuple(
                        share(grades == level, every, topics, NO_RATINGS)
                        for level in selection.levels
                    ),
                    mean=mean_of_items(grades, every, topics, NO_RATINGS).within(
                        min(selection.levels), max(selection.levels)
                    )
                    if "mean_grade" in selection.measures
                    else selection.measures.none("mean_grade"),
                )
            )
    return tuple(rows)
