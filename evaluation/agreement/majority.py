"""Each rater against what most of the others say, and the judge against what most raters say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.stats import fleiss
from evaluation.stats.clusters import binary, share, without_each_topic
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.majority import pair_counts, rater_against_majority, scott_pi, strict_majority

NO_MAJORITY = "undefined, because no answer stands beside a majority of two others"


@dataclass(frozen=True, slots=True)
class MajorityRow:
    """One rater against the strict majority of at least two others, item by item.

    `n_dropped` counts the items that the rater rated and on which the others have no majority.
    `prevalence` is the share of "answerable" among the rater's and the majority's answers together.
    Intervals: jackknife over topics.
    """

    rater: Column
    kappa: Estimate
    percent: Estimate
    prevalence: Estimate
    n_dropped: int


def majority_rows(matrix: RatingMatrix) -> tuple[MajorityRow, ...]:
    """A row for each rater, and last for the judge, against all raters. None for fewer than three
    raters, who leave nobody a majority of others."""
    selection, grades = matrix.selection, matrix.grades
    if len(selection.raters) < 3:
        return ()
    levels, cut = np.array(selection.levels), selection.threshold
    rows = [
        _row(matrix, rater, grades[:, column], against.majority, levels, cut)
        for column, (rater, against) in enumerate(
            zip(selection.raters, rater_against_majority(grades, levels), strict=True)
        )
    ]
    if selection.judge:
        others = [
            column
            for column, rater in enumerate(selection.raters)
            if rater.pk != selection.judge.pk
        ]
        majority, judge = strict_majority(grades[:, others], levels), matrix.judge
        if not selection.one_scale:
            majority, judge = binary(majority, cut), binary(judge, selection.judge_threshold)
            levels, cut = np.array([0, 1]), 1
        rows.append(_row(matrix, selection.judge, judge, majority, levels, cut))
    return tuple(rows)


def _row(
    matrix: RatingMatrix,
    rater: Column,
    own: FloatArray,
    majority: FloatArray,
    levels: IntArray,
    cut: int,
) -> MajorityRow:
    topics = matrix.topic
    both = ~(np.isnan(own) | np.isnan(majority))
    deleted = without_each_topic(fleiss.item_terms(pair_counts(own, majority, levels)), topics)
    kappa = jackknife_interval(scott_pi(own, majority, levels), fleiss.kappa_from_sums(deleted))
    return MajorityRow(
        rater=rater,
        kappa=kappa if kappa.n else replace(kappa, reason=NO_MAJORITY),
        percent=share(own == majority, both, topics, NO_MAJORITY),
        prevalence=share((binary(own, cut) + binary(majority, cut)) / 2, both, topics, NO_MAJORITY),
        n_dropped=int((~np.isnan(own) & np.isnan(majority)).sum()),
    )
