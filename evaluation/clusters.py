"""Statistics with their interval over topics, all from sums per topic: no loop over topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.agreement.cohen import Weights, cohen_kappa, kappa_from_matrix
from evaluation.agreement.estimate import Estimate, FloatArray, IntArray, level_index
from evaluation.agreement.jackknife import jackknife_interval


def without_each_topic(terms: ArrayLike, topics: IntArray) -> FloatArray:
    """Sums of the items' terms over all topics but one, for each topic: topics x terms.

    `terms` is items x terms, `topics` the topic of each item. Sums are added up, never subtracted
    from a total, so an exact zero stays one.
    """
    names, at = np.unique(topics, return_inverse=True)
    values = np.asarray(terms, dtype=np.float64)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, at, values)
    return np.asarray((1 - np.eye(len(names))) @ sums)


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, NaN where there is no whole."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def binary(grades: FloatArray, eta: float) -> FloatArray:
    """1 for grades of at least eta, 0 for the others, NaN where missing."""
    return np.where(np.isnan(grades), np.nan, grades >= eta)


def share(values: ArrayLike, counted: ArrayLike, topics: IntArray, why_empty: str) -> Estimate:
    """The mean of the values that are counted, with its interval over topics.

    `values` and `counted` (0 or 1) are one per item; `n` = counted items, `missing` = the others.
    Nothing counted: undefined, because of `why_empty`.
    """
    weights = np.asarray(counted, dtype=np.float64)
    parts = np.where(weights > 0, np.nan_to_num(np.asarray(values, dtype=np.float64)), 0.0)
    n = int(weights.sum())
    missing = len(weights) - n
    if not n:
        reason = why_empty.removeprefix("undefined, because ")
        return Estimate(None, f"undefined, because {reason}", 0, missing)
    deleted = without_each_topic(np.column_stack([parts, weights]), topics)
    whole = Estimate(float(parts.sum() / n), None, n, missing)
    return jackknife_interval(whole, ratio(deleted[:, 0], deleted[:, 1]))


def level_cells(a: FloatArray, b: FloatArray, levels: Sequence[int]) -> NDArray[np.float64]:
    """The cell of each item in the matrix of two raters' levels, flattened: items x levels squared.

    An item without both grades is a row of zeros.
    """
    size = len(levels)
    first, second = level_index(a, levels), level_index(b, levels)
    cells = np.zeros((len(first), size * size))
    rated = np.flatnonzero((first >= 0) & (second >= 0))
    cells[rated, first[rated] * size + second[rated]] = 1
    return cells


def kappa_over_topics(
    a: FloatArray, b: FloatArray, levels: Sequence[int], topics: IntArray, weights: Weights = None
) -> Estimate:
    """Cohen's kappa of two raters, with its interval over topics."""
    deleted = without_each_topic(level_cells(a, b, levels), topics)
    stack = deleted.reshape(-1, len(levels), len(levels))
    return jackknife_interval(
        cohen_kappa(a, b, levels, weights), kappa_from_matrix(stack, levels, weights)
    )
