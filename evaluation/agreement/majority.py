"""Agreement of raters with the majority of the others, and of the judge with the majority."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.stats.classes import Classes
from evaluation.stats.clusters import binary
from evaluation.stats.estimate import Estimate, IntArray, level_index
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.majority import majority_positions, relative_drop
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
    selection, columns = matrix.selection, matrix.level_columns
    if len(selection.raters) < 3:
        return ()
    judge = level_index(matrix.judge, matrix.levels) if selection.one_scale else None
    compares_judge = selection.judge and "relative_drop" in selection.measures
    rows = []
    for column, rater in enumerate(selection.raters):
        # The items that the rater rated are the only ones that count.
        items = columns.rated[column]
        by_rater = columns.positions[items, column]
        other_counts = columns.tallies[items]
        other_counts[np.arange(len(items)), by_rater] -= 1
        majority = majority_positions(other_counts, selection.majority)
        counts = columns.counts(items, majority, by_rater)
        n_dropped = int((majority < 0).sum())
        row = _row(matrix, rater, counts, selection.threshold, n_dropped)
        if compares_judge and judge is not None:
            judge_kappa, drop = _judge_against_others(
                matrix, rater, items, (majority, by_rater, judge[items])
            )
            row = replace(row, judge=judge_kappa, drop=drop)
        rows.append(row)
    if selection.judge:
        rows.append(_judge_row(matrix, selection.judge))
    return tuple(rows)


def _judge_row(matrix: RatingMatrix, judge: Column) -> MajorityRow:
    """Return the row of the judge against the majority of all raters but itself."""
    selection, columns = matrix.selection, matrix.level_columns
    tallies = columns.tallies.copy()
    for column, rater in enumerate(selection.raters):
        if rater.pk == judge.pk:
            items = columns.rated[column]
            tallies[items, columns.positions[items, column]] -= 1
    positions = majority_positions(tallies, selection.majority)
    majority = np.where(positions >= 0, np.array(matrix.levels)[positions], np.nan)
    judged, levels, cut = matrix.judge, matrix.levels, selection.threshold
    if not selection.one_scale:
        majority, judged = binary(majority, cut), binary(judged, selection.judge_threshold)
        levels, cut = (0, 1), 1
    counts = PairCounts.of(majority, judged, levels, matrix.topic)
    n_dropped = int((~np.isnan(judged) & np.isnan(majority)).sum())
    return replace(_row(matrix, judge, counts, cut, n_dropped), judge=ITSELF, drop=ITSELF)


def _judge_against_others(
    matrix: RatingMatrix,
    rater: Column,
    items: NDArray[np.intp],
    positions: tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]],
) -> tuple[Estimate, Estimate]:
    """Return the judge's kappa against the majority without this rater, and its relative drop.

    `positions` are the levels of the majority, the rater and the judge at the items of the rater.
    Source: Know Your RAG (de Lima et al., 2024), section 4: 1 - kappa(judge, M) / kappa(rater, M).
    """
    judge = matrix.selection.judge
    if judge is None or judge.pk == rater.pk:
        return ITSELF, ITSELF
    majority, by_rater, by_judge = positions
    columns = matrix.level_columns
    of_rater = columns.counts(items, majority, np.where(by_judge >= 0, by_rater, -1))
    of_judge = columns.counts(items, majority, by_judge)
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
