"""Agreement of a rater with all others of a campaign, without a loop over pairs of raters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.stats.cohen import Weights, kappa_from_matrix
from evaluation.stats.estimate import Estimate, IntArray

NO_OTHERS = "undefined, because nobody else answered any of these"
ONE_GRADE = "undefined, because all answers are in one category"
NO_MAJORITY = "undefined, because no answer has two others and a majority among them"


@dataclass(frozen=True)
class PooledConfusions:
    """Confusions of each rater with all others.

    `pooled`: raters x levels x levels, own grade (row) against each of the others'
    (column), every pair of answers to one question counted once; `majority` raters x 2 x 2, own
    answer below or from eta (row) against the strict majority of at least two others (column), or
    without an eta raters x levels x levels.
    """

    pooled: IntArray
    majority: IntArray


def pooled_confusions(
    rater: IntArray, pair: IntArray, level: IntArray, n_raters: int, n_levels: int, cut: int | None
) -> PooledConfusions:
    """Return the confusions of each rater with the others, from one row per answer.

    `rater`, `pair` (of an item and a question) and `level` (place in the scale) count from 0; a
    rater answers a pair once. Levels from `cut` on are answerable; None where none is, and each level
    is on its own. A pair with one answer adds nothing. No rows: all zero. Raises ValueError for arrays
    of unequal length.
    """
    if not len(rater) == len(pair) == len(level):
        raise ValueError("one rater, pair and level for each answer")
    n_pairs = int(pair.max(initial=-1)) + 1
    counts = np.zeros((n_pairs, n_levels), dtype=np.int64)
    np.add.at(counts, (pair, level), 1)
    other_levels = counts[pair]  # of all answers to the same pair
    other_levels[np.arange(len(level)), level] -= 1  # without the rater's own
    pooled = np.zeros((n_raters, n_levels, n_levels), dtype=np.int64)
    np.add.at(pooled, (rater, level), other_levels)
    if cut is not None:
        other_levels = np.column_stack(
            [other_levels[:, :cut].sum(axis=1), other_levels[:, cut:].sum(axis=1)]
        )
        level = (level >= cut).astype(np.int64)
    n = other_levels.sum(axis=1)
    decided = (n >= 2) & (2 * other_levels.max(axis=1, initial=0) > n)
    size = other_levels.shape[1]
    majority = np.zeros((n_raters, size, size), dtype=np.int64)
    cells = (rater, level, other_levels.argmax(axis=1))
    np.add.at(majority, tuple(part[decided] for part in cells), 1)
    return PooledConfusions(pooled, majority)


def pairwise_confusions(
    rater: IntArray, pair: IntArray, level: IntArray, n_raters: int, n_levels: int, index: int
) -> IntArray:
    """Return one rater's confusion with each other rater: raters x levels x levels.

    The rater's own grades are the rows, the others' the columns. Arguments as `against_others`. The
    rater's own, and those without a pair in common, are zeros.
    """
    own_level = np.full(int(pair.max(initial=-1)) + 1, -1)
    own_level[pair[rater == index]] = level[rater == index]
    shared = (rater != index) & (own_level[pair] >= 0)
    confusions = np.zeros((n_raters, n_levels, n_levels), dtype=np.int64)
    np.add.at(confusions, (rater[shared], own_level[pair[shared]], level[shared]), 1)
    return confusions


def percent(matrix: IntArray, why_empty: str = NO_OTHERS) -> Estimate:
    """Return the share of equal answers in a confusion; undefined if it is empty.

    n = pairs of answers.
    """
    n = int(matrix.sum())
    if n == 0:
        return Estimate(None, why_empty, 0)
    return Estimate(float(np.trace(matrix) / n), None, n)


def kappa(
    matrix: IntArray, levels: NDArray[np.int64], weights: Weights = None, why_empty: str = NO_OTHERS
) -> Estimate:
    """Return Cohen's kappa of a confusion, pooled over several others or of one.

    n = pairs of answers. Pooling adds the confusions up before kappa is taken, so another rater counts by
    the number of answers in common. Undefined if it is empty or all answers are in one category.

    Source: as `evaluation.stats.cohen.cohen_kappa`.
    """
    n = int(matrix.sum())
    if n == 0:
        return Estimate(None, why_empty, 0)
    value = float(kappa_from_matrix(matrix, levels, weights))
    return Estimate(None, ONE_GRADE, n) if np.isnan(value) else Estimate(value, None, n)
