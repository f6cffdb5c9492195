"""Weights of disagreements: the distance of the grades, then the distance of the evidence.

A list is ordered by the first; among equal ones, by the second.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from evaluation.data.ratings import RatingMatrix
from evaluation.data.selection import Selection
from evaluation.data.spans import Evidence
from evaluation.stats.estimate import FloatArray, IntArray, level_index
from evaluation.stats.krippendorff import set_distances

DECIMALS = 9  # weights that differ beyond are equal: they were summed in another order


def grade_distance(matrix: RatingMatrix) -> FloatArray:
    """Return the mean distance between the grades of each item: 0 the same, 1 the whole scale.

    The mean is over all pairs of raters and of a rater with the judge, as a share of the scale; of
    grades that are names 0 or 1, of sets of labels the MASI distance. A judge on another scale counts
    as answerable or not. NaN for an item with one grade.
    """
    selection, columns = matrix.selection, matrix.level_columns
    levels = np.array(matrix.levels, dtype=np.float64)
    reach = 1 if selection.rubric.is_multi_label else selection.levels[-1] - selection.levels[0]
    scaled = (levels - selection.levels[0]) / reach
    if selection.rubric.is_multi_label:
        distances = set_distances(matrix.levels, "masi")
    else:
        distances = _distances(selection, scaled, scaled)
    tallies = columns.tallies
    if selection.judge and selection.one_scale:
        tallies = tallies.copy()
        judge = level_index(matrix.judge, matrix.levels)
        graded = np.flatnonzero(judge >= 0)
        tallies[graded, judge[graded]] += 1
    n_grades = tallies.sum(axis=1)
    # Each pair of grades counts from both sides; grades of one level have no distance.
    total, n = ((tallies @ distances) * tallies).sum(axis=1) / 2, n_grades * (n_grades - 1) / 2
    if selection.judge and not selection.one_scale:
        to_judge = tallies @ _distances(selection, scaled, np.array([0.0, 1.0]))
        verdict = matrix.judge >= selection.judge_threshold
        is_graded = ~np.isnan(matrix.judge)
        total += is_graded * np.where(verdict, to_judge[:, 1], to_judge[:, 0])
        n += is_graded * n_grades
    return np.divide(total, n, out=np.full(matrix.n_items, np.nan), where=n > 0)


def _distances(selection: Selection, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the distance of each level of `a` from each of `b`; of names it is 0 or 1."""
    distances = np.abs(a[:, np.newaxis] - b)
    return distances if "cohen_quadratic" in selection.measures else (distances > 0).astype(float)


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
            if evidence.have_marks(a, b)
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


def _mean(distances: list[FloatArray], n_items: int) -> FloatArray:
    """Return the mean of the distances that are defined; NaN where none is."""
    total, n = np.zeros(n_items), np.zeros(n_items)
    for distance in distances:
        total += np.nan_to_num(distance)
        n += ~np.isnan(distance)
    return np.divide(total, n, out=np.full(n_items, np.nan), where=n > 0)
