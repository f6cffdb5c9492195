"""Weights of disagreements: the distance of the grades, then the distance of the evidence.

A list is ordered by the first; among equal ones, by the second.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from evaluation.data.ratings import RatingMatrix
from evaluation.data.spans import Evidence
from evaluation.stats.clusters import binary
from evaluation.stats.estimate import FloatArray, IntArray
from evaluation.stats.krippendorff import set_distances

DECIMALS = 9  # weights that differ beyond are equal: they were summed in another order


def grade_distance(matrix: RatingMatrix) -> FloatArray:
    """Return the mean distance between the grades of each item: 0 the same, 1 the whole scale.

    The mean is over all pairs of raters and of a rater with the judge, as a share of the scale; of
    grades that are names 0 or 1, of sets of labels the MASI distance. A judge on another scale counts
    as answerable or not. NaN for an item with one grade.
    """
    selection = matrix.selection
    has_order = "cohen_quadratic" in selection.measures
    has_sets = selection.rubric.is_multi_label
    reach = 1 if has_sets else selection.levels[-1] - selection.levels[0]
    graders = (matrix.grades - selection.levels[0]) / reach
    if selection.judge:
        judge = (
            (matrix.judge - selection.levels[0]) / reach
            if selection.one_scale
            else binary(matrix.judge, selection.judge_threshold)
        )
        graders = np.column_stack([graders, judge])
    unlike = _masi_distance if has_sets else _unlike
    return _mean(
        [
            np.abs(graders[:, a] - graders[:, b])
            if has_order
            else unlike(graders[:, a], graders[:, b])
            for a, b in combinations(range(graders.shape[1]), 2)
        ],
        matrix.n_items,
    )


def evidence_distance(matrix: RatingMatrix, evidence: Evidence) -> FloatArray:
    """Return the mean distance between the highlights of each item: 0 the same, 1 disjoint.

    The mean, over the pairs of raters who both call it answerable and both mark words of the text,
    of 1 less the intersection over union of their characters. NaN for an item without such a pair.
    """
    answerable = matrix.grades >= matrix.selection.threshold
    return _mean(
        [
            np.where(answerable[:, a] & answerable[:, b], 1 - evidence.overlap(a, b), np.nan)
            for a, b in combinations(range(answerable.shape[1]), 2)
        ],
        matrix.n_items,
    )


def strongest_first(items: IntArray, grades: FloatArray, evidence: FloatArray) -> IntArray:
    """Return the items by the distance of grades, then of evidence; undefined last.

    Ties keep the order of `items`.
    """

    def falling(values: FloatArray) -> FloatArray:
        return np.asarray(-np.round(np.nan_to_num(values[items], nan=-1.0), DECIMALS), np.float64)

    return items[np.lexsort((falling(evidence), falling(grades)))]


def _unlike(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return 1 where two names differ, 0 where they are the same, NaN where one is missing."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, a != b)


def _masi_distance(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the MASI distance of the sets of each item, NaN where one is missing."""
    is_missing = np.isnan(a) | np.isnan(b)
    sets = [np.nan_to_num(side).astype(np.int64) for side in (a, b)]
    levels = np.unique(sets)
    distances = set_distances(levels, "masi")
    first, second = (np.searchsorted(levels, side) for side in sets)
    return np.where(is_missing, np.nan, distances[first, second])


def _mean(distances: list[FloatArray], n_items: int) -> FloatArray:
    """Return the mean of the distances that are defined; NaN where none is."""
    total, n = np.zeros(n_items), np.zeros(n_items)
    for distance in distances:
        total += np.nan_to_num(distance)
        n += ~np.isnan(distance)
    return np.divide(total, n, out=np.full(n_items, np.nan), where=n > 0)
