"""Distribution of each rater's grades, overall and by system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.agreement.parts import NO_RATINGS
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.stats.clusters import mean_of_items, share
from evaluation.stats.estimate import Estimate

ALL_SYSTEMS = "all"


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
    """Return grade counts by rater, all systems first, then each system.

    The judge comes last, if it grades on the same levels.
    """
    selection = matrix.selection
    columns = list(zip(selection.raters, matrix.grades.T, strict=True))
    rater_ids = {rater.pk for rater in selection.raters}
    if selection.judge and selection.one_scale and selection.judge.pk not in rater_ids:
        columns.append((selection.judge, matrix.judge))
    systems = matrix.systems if len(matrix.systems) > 1 else []
    rows = []
    for rater, column in columns:
        for system in (ALL_SYSTEMS, *systems):
            selected = ~np.isnan(column)
            if system != ALL_SYSTEMS:
                selected &= matrix.system == system
            grades, topics = column[selected], matrix.topic[selected]
            present = np.ones(len(grades))
            rows.append(
                GradesOf(
                    rater=rater,
                    system=system,
                    n=len(grades),
                    counts={level: int((grades == level).sum()) for level in selection.levels},
                    shares=tuple(
                        share(grades == level, present, topics, NO_RATINGS)
                        for level in selection.levels
                    ),
                    mean=mean_of_items(grades, present, topics, NO_RATINGS).within(
                        min(selection.levels), max(selection.levels)
                    )
                    if "mean_grade" in selection.measures
                    else selection.measures.none("mean_grade"),
                )
            )
    return tuple(rows)
