"""Cohen's kappa of two raters, plain or weighted, over an explicit list of labels."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.confusion import level_matrix
from evaluation.stats.estimate import Estimate, FloatArray, complete_pairs

Weights = Literal["linear", "quadratic"] | None

NO_PAIR = "undefined, because no item was rated by both raters"


def cohen_kappa(a: ArrayLike, b: ArrayLike, labels: ArrayLike, weights: Weights = None) -> Estimate:
    """Cohen's kappa: agreement of two raters beyond what their own label shares would give.

    `a` and `b` are ratings of the same items, one-dimensional, NaN = missing; items without both
    are left out and counted in `missing`, `n` = items with both. `labels` is the whole scale, used
    or not; disagreement is weighted by the distance of the label values ("linear") or its square
    ("quadratic"). Undefined if no item has both ratings or all ratings are in one category. If one
    rater alone is constant kappa is 0 by the formula: show `one_rater_constant` beside it.
    Raises ValueError for a rating outside `labels`, fewer than two or repeated labels, unequal
    lengths, or unknown weights.
    Source: Cohen (1960), Educational and Psychological Measurement 20(1), 37-46; weighted: Cohen
    (1968), Psychological Bulletin 70(4), 213-220.
    """
    matrix = level_matrix(a, b, labels)
    *_, missing = complete_pairs(a, b)
    n = int(matrix.sum())
    if n == 0:
        return Estimate(None, NO_PAIR, 0, missing)
    kappa = kappa_from_matrix(matrix, labels, weights)
    if np.isnan(kappa):
        return Estimate(None, "undefined, because all ratings are in one category", n, missing)
    return Estimate(float(kappa), None, n, missing)


def kappa_from_matrix(matrix: ArrayLike, labels: ArrayLike, weights: Weights = None) -> FloatArray:
    """Cohen's kappa of each labels x labels matrix on the last two axes; NaN if undefined.

    Matrices (`confusion.level_matrix`) add up over items and topics, so a stack of resampled sums
    is one call. Undefined are empty matrices and those with all ratings in one category. Raises
    ValueError for unknown weights or a matrix that does not fit `labels`. Sources as `cohen_kappa`.
    """
    cells, scale = np.asarray(matrix, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if cells.shape[-2:] != (len(scale), len(scale)):
        raise ValueError(f"a matrix of {len(scale)} labels is square, not {cells.shape}")
    cost = _disagreement(scale, weights)
    # Sums as products of matrices: numpy adds up short axes slowly.
    unit_weights = np.ones(len(scale))
    rows, columns = cells @ unit_weights, unit_weights @ cells
    observed = cells.reshape(*cells.shape[:-2], cost.size) @ cost.ravel() * (rows @ unit_weights)
    expected = (rows @ cost * columns) @ unit_weights
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected > 0, 1 - observed / expected, np.nan))


def percent_agreement(a: ArrayLike, b: ArrayLike) -> Estimate:
    """The share of items, 0 to 1, on which two raters gave the same rating.

    Input, `n`, `missing` and errors as `cohen_kappa` without labels. Undefined if no item has both
    ratings; 1 if all ratings are in one category. Source: Cohen (1960), p_o.
    """
    first, second, missing = complete_pairs(a, b)
    if len(first) == 0:
        return Estimate(None, NO_PAIR, 0, missing)
    return Estimate(float(np.mean(first == second)), None, len(first), missing)


def one_rater_constant(a: ArrayLike, b: ArrayLike) -> bool:
    """Return True if exactly one of two raters gave all items with both ratings one rating.

    Kappa is then 0 whatever the agreement. False if there are no such items, or if both raters are
    constant. Errors as `percent_agreement`.
    """
    first, second, _ = complete_pairs(a, b)
    return bool((len(np.unique(first)) == 1) != (len(np.unique(second)) == 1))


def _disagreement(scale: FloatArray, weights: Weights) -> FloatArray:
    distance = np.abs(scale[:, np.newaxis] - scale)
    if weights is None:
        return (distance > 0).astype(np.float64)
    if weights == "linear":
        return distance
    if weights == "quadratic":
        return distance**2
    raise ValueError(f"weights are None, 'linear' or 'quadratic', not {weights!r}")
