"""Agreement of raters with the majority of the others, and of the judge with the majority."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.stats import fleiss
from evaluation.stats.classes import Classes, class_scores
from evaluation.stats.clusters import (
    binary,
    kappa_over_topics,
    leave_one_topic_out_sums,
    level_sums,
    scott_over_topics,
    share,
)
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.majority import (
    majority_of,
    pair_counts,
    rater_against_majority,
    relative_drop,
    scott_pi,
)

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
    levels, cut = np.array(matrix.levels), selection.threshold
    rows = []
    for column, (rater, against) in enumerate(
        zip(
            selection.raters,
            rater_against_majority(grades, levels, selection.majority),
            strict=True,
        )
    ):
        grades_of_rater, majority = grades[:, column], against.majority
        row = _row(matrix, rater, grades_of_rater, majority, levels, cut)
        if selection.judge and selection.one_scale and "relative_drop" in selection.measures:
            judge, drop = _judge_against_others(matrix, rater, grades_of_rater, majority, levels)
            row = replace(row, judge=judge, drop=drop)
        rows.append(row)
    if selection.judge:
        other_columns = [
            column
            for column, rater in enumerate(selection.raters)
            if rater.pk != selection.judge.pk
        ]
        majority = majority_of(grades[:, other_columns], levels, selection.majority)
        judged = matrix.judge
        if not selection.one_scale:
            majority, judged = binary(majority, cut), binary(judged, selection.judge_threshold)
            levels, cut = np.array([0, 1]), 1
        row = _row(matrix, selection.judge, judged, majority, levels, cut)
        rows.append(replace(row, judge=ITSELF, drop=ITSELF))
    return tuple(rows)


def _judge_against_others(
    matrix: RatingMatrix, rater: Column, grades: FloatArray, majority: FloatArray, levels: IntArray
) -> tuple[Estimate, Estimate]:
    """Return the judge's kappa against the majority without this rater, and its relative drop.

    Source: Know Your RAG (de Lima et al., 2024), section 4: 1 - kappa(judge, M) / kappa(rater, M).
    """
    judge = matrix.selection.judge
    if judge is None or judge.pk == rater.pk:
        return ITSELF, ITSELF
    neither = np.isnan(grades) | np.isnan(matrix.judge)
    kappas, leave_one_out = [], []
    for side in (grades, matrix.judge):
        side_grades = np.where(neither, np.nan, side)
        terms = fleiss.item_terms(pair_counts(side_grades, majority, levels))
        leave_one_out.append(fleiss.kappa_from_sums(leave_one_topic_out_sums(terms, matrix.topic)))
        kappa = jackknife_interval(scott_pi(side_grades, majority, levels), leave_one_out[-1])
        kappas.append(kappa.within(-1, 1))
    of_rater, of_judge = kappas
    positive = np.where(leave_one_out[0] > 0, leave_one_out[0], np.nan)
    drop = jackknife_interval(relative_drop(of_rater, of_judge), 1 - leave_one_out[1] / positive)
    return of_judge, drop


def _row(
    matrix: RatingMatrix,
    rater: Column,
    grades: FloatArray,
    majority: FloatArray,
    levels: IntArray,
    cut: int,
) -> MajorityRow:
    topics, measures = matrix.topic, matrix.selection.measures
    scale: tuple[int, ...] = tuple(levels.tolist())
    both = ~(np.isnan(grades) | np.isnan(majority))
    kappa = scott_over_topics(grades, majority, scale, topics)
    cohen = kappa_over_topics(majority, grades, scale, topics)
    sums = level_sums(majority, grades, (scale, scale), topics)
    return MajorityRow(
        rater=rater,
        kappa=kappa if kappa.n else replace(kappa, reason=NO_MAJORITY),
        cohen=cohen if cohen.n else replace(cohen, reason=NO_MAJORITY),
        percent=share(grades == majority, both, topics, NO_MAJORITY),
        prevalence=share(
            (binary(grades, cut) + binary(majority, cut)) / 2, both, topics, NO_MAJORITY
        )
        if "prevalence" in measures
        else measures.none("prevalence"),
        n_dropped=int((~np.isnan(grades) & np.isnan(majority)).sum()),
        judge=NO_JUDGE,
        drop=NO_JUDGE,
        levels=scale,
        matrix=sums.sum(axis=0),
        classes=class_scores(sums, scale, int((~both).sum())) if "classes" in measures else None,
    )
