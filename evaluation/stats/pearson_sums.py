"""Pearson's r as a function of sums, for the correlations of all resamples of topics at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import FloatArray, complete_pairs

# Below this share of the mean square, a variance from sums is mostly rounding.
ROUNDING = 1e-12


def pearson_terms(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """What each pair adds to the sums that Pearson's r is computed from: pairs x 6.

    `x` and `y` are one-dimensional and of equal length, NaN = missing; a pair with a missing value
    is a row of zeros. The terms are 1, x, y, x^2, y^2 and xy, after both lists were moved to mean
    0, which changes no correlation and keeps the digits of lists that are far from 0. Raises
    ValueError for unequal lengths or infinite values.
    Source: Pearson (1895), Proceedings of the Royal Society 58.
    """
    first, second, _ = complete_pairs(x, y)
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    rated = ~(np.isnan(a) | np.isnan(b))
    terms = np.zeros((len(a), 6))
    if len(first):
        first, second = first - first.mean(), second - second.mean()
        ones = np.ones(len(first))
        terms[rated] = np.column_stack([ones, first, second, first**2, second**2, first * second])
    return terms


def pearson_from_sums(sums: FloatArray) -> FloatArray:
    """Pearson's r of each vector of summed `pearson_terms` on the last axis; NaN if undefined.

    Undefined are sums of fewer than three pairs, or with one list constant. A pair that a resample
    holds twice counts twice. Source: as `pearson_terms`.
    """
    n, x, y, xx, yy, xy = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    spread_x, spread_y = n * xx - x**2, n * yy - y**2
    defined = (n >= 3) & (spread_x > ROUNDING * n * xx) & (spread_y > ROUNDING * n * yy)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (n * xy - x * y) / np.sqrt(spread_x * spread_y)
    return np.asarray(np.where(defined, r, np.nan))
