"""Agreement of raters with the majority of the others, and of the judge with the majority."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.stats.classes import Classes
from evaluation.stats.clusters import binary
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.majority import majorities_of_others, majority_of, relative_drop
from evaluation.stats.pair_counts import PairCounts

NO_MAJORITY = "undefined, because no answer stands beside a majority of two others"
NO_JUDGE = Estimate(None, "undefined, because no judge is chosen who grades on these levels", 0)
ITSELF = Estimate(None, "undefined, because this is the judge", 0)


@dataclass(frozen=True, slots=True)
class MajorityRow:
    """Agreement of a rater with the majority of at least two others, item by item.

    `n_dropped` counts the items that the rater rated and on which the others have no majority.
    `prevalence` is the share of "answerable" among the rater's and the majority's answers together.
    `judge` is the judge's kappa against the same majority, without this rater, and `drop` by how much
    of the rater's it is lower, both over the items that all three have. `matrix` counts the grades
    of the majority (rows) against the rater's. Intervals: jackknife over topics.
    """

    rater: Column
    kappa: Estimate
    cohen: Estimate
    percent: Estimate
    prevalence: Estimate
    n_dropped: int
    judge: Estimate
    drop: Estimate
    levels: tuple[int, ...]
    matrix: IntArray
    classes: Classes | None
    """The scores of the rater with the majority as the truth, where grades are names."""


def majority_rows(matrix: RatingMatrix) -> tuple[MajorityRow, ...]:
    """Return a row for each rater, and last for the judge against the majority of all raters.

    Empty for fewer than three raters, who leave no majority of others.
    """
    selection, grades = matrix.selection, matrix.grades
    if len(selection.raters) < 3:
        return ()
    compares_judge = selection.one_scale and "relative_drop" in selection.measures
    rows = []
    for column, (rater, majority) in enumerate(
        zip(
            selection.raters,
            majorities_of_others(grades, matrix.levels, selection.majority),
            strict=True,
        )
    ):
        grades_of_rater = grades[:, column]
        counts = PairCounts.of(majority, grades_of_rater, matrix.levels, matrix.topic)
        n_dropped = int((~np.isnan(grades_of_rater) & np.isnan(majority)).sum())
        row = _row(matrix, rater, counts, selection.threshold, n_dropped)
        if selection.judge and compares_judge:
            judge, drop = _judge_against_others(matrix, rater, grades_of_rater, majority)
            row = replace(row, judge=judge, drop=drop)
        rows.append(row)
    if selection.judge:
        other_columns = [
            column
            for column, rater in enumerate(selection.raters)
            if rater.pk != selection.judge.pk
        ]
        majority = majority_of(grades[:, other_columns], matrix.levels, selection.majority)
        judged, levels, cut = matrix.judge, matrix.levels, selection.threshold
        if not selection.one_scale:
            majority, judged = binary(majority, cut), binary(judged, selection.judge_threshold)
            levels, cut = (0, 1), 1
        counts = PairCounts.of(majority, judged, levels, matrix.topic)
        n_dropped = int((~np.isnan(judged) & np.isnan(majority)).sum())
        row = _row(matrix, selection.judge, counts, cut, n_dropped)
        rows.append(replace(row, judge=ITSELF, drop=ITSELF))
    return tuple(rows)


def _judge_against_others(
    matrix: RatingMatrix, rater: Column, grades: FloatArray, majority: FloatArray
) -> tuple[Estimate, Estimate]:
    """Return the judge's kappa against the majority without this rater, and its relative drop.

    Source: Know Your RAG (de Lima et al., 2024), section 4: 1 - kappa(judge, M) / kappa(rater, M).
    """
    judge = matrix.selection.judge
    if judge is None or judge.pk == rater.pk:
        return ITSELF, ITSELF
    neither = np.isnan(grades) | np.isnan(matrix.judge)
    of_rater, of_judge = (
        PairCounts.of(majority, np.where(neither, np.nan, side_grades), matrix.levels, matrix.topic)
        for side_grades in (grades, matrix.judge)
    )
    without_topic = of_rater.scott_leave_one_out
    positive = np.where(without_topic > 0, without_topic, np.nan)
    judge_kappa = of_judge.scott()
    drop = jackknife_interval(
        relative_drop(of_rater.scott(), judge_kappa), 1 - of_judge.scott_leave_one_out / positive
    )
    return judge_kappa, drop


def _row(
    matrix: RatingMatrix, rater: Column, counts: PairCounts, cut: int, n_dropped: int
) -> MajorityRow:
    """Return the row of a rater. `counts` has the majority as its first side."""
    measures = matrix.selection.measures

    def with_reason(estimate: Estimate) -> Estimate:
        return estimate if estimate.n else replace(estimate, reason=NO_MAJORITY)

    return MajorityRow(
        rater=rater,
        kappa=with_reason(counts.scott()),
        cohen=with_reason(counts.kappa()),
        percent=with_reason(counts.percent()),
        prevalence=with_reason(counts.share_from(cut))
        if "prevalence" in measures
        else measures.none("prevalence"),
        n_dropped=n_dropped,
        judge=NO_JUDGE,
        drop=NO_JUDGE,
        levels=counts.levels,
        matrix=counts.matrix,
        classes=counts.classes() if "classes" in measures else None,
    )
