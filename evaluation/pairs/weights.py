"""How much a disagreement matters: how far the grades are apart, and then how far the evidence is.

A list is ordered by the distance of the grades; among equal ones, by the distance of the evidence.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from evaluation.data.ratings import RatingMatrix
from evaluation.data.spans import Evidence
from evaluation.stats.clusters import binary
from evaluation.stats.estimate import FloatArray, IntArray

DECIMALS = 9  # weights that only differ beyond are equal: they were added up in another order


def grade_distance(matrix: RatingMatrix) -> FloatArray:
    """How far the grades of each item are apart: 0 the same, 1 as far as the scale allows.

    The mean distance between two grades, over all pairs of raters and of a rater with the judge,
    as a share of the scale; of grades that are names 0 or 1. A judge on another scale counts as
    answerable or not. NaN for an item with one grade.
    """
    selection = matrix.selection
    has_order = "cohen_quadratic" in selection.measures
    reach = selection.levels[-1] - selection.levels[0]
    graders = (matrix.grades - selection.levels[0]) / reach
    if selection.judge:
        judge = (
            (matrix.judge - selection.levels[0]) / reach
            if selection.one_scale
            else binary(matrix.judge, selection.judge_threshold)
        )
        graders = np.column_stack([graders, judge])
    return _mean(
        [
            np.abs(graders[:, a] - graders[:, b])
            if has_order
            else _unlike(graders[:, a], graders[:, b])
            for a, b in combinations(range(graders.shape[1]), 2)
        ],
        matrix.n_items,
    )


def evidence_distance(matrix: RatingMatrix, evidence: Evidence) -> FloatArray:
    """How far the highlights of each item are apart: 0 the same words, 1 none in common.

    The mean, over the pairs of raters who both call it answerable and both mark words of the text,
    of 1 less the intersection over union of their characters. NaN for an item without such a pair.
    """
    says = matrix.grades >= matrix.selection.threshold
    return _mean(
        [
            np.where(says[:, a] & says[:, b], 1 - evidence.overlap(a, b), np.nan)
            for a, b in combinations(range(says.shape[1]), 2)
        ],
        matrix.n_items,
    )


def strongest_first(items: IntArray, grades: FloatArray, evidence: FloatArray) -> IntArray:
    """The items by the distance of their grades, then of their evidence; undefined comes last.

    Ties keep the order of `items`.
    """

    def falling(values: FloatArray) -> FloatArray:
        return np.asarray(-np.round(np.nan_to_num(values[items], nan=-1.0), DECIMALS), np.float64)

    return items[np.lexsort((falling(evidence), falling(grades)))]


def _unlike(a: FloatArray, b: FloatArray) -> FloatArray:
    """1 where two names differ, 0 where they are the same, NaN where one is missing."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, a != b)


def _mean(distances: list[FloatArray], n_items: int) -> FloatArray:
    """The mean of the distances that are defined; NaN where none is."""
    total, n = np.zeros(n_items), np.zeros(n_items)
    for distance in distances:
        total += np.nan_to_num(distance)
        n += ~np.isnan(distance)
    return np.divide(total, n, out=np.full(n_items, np.nan), where=n > 0)
