"""Correlation of two lists of scores: Pearson, Spearman and Kendall's tau-b."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, complete_pairs

# The largest n for which Kendall's null distribution is enumerated rather than approximated.
KENDALL_EXACT_UP_TO = 33


@dataclass(frozen=True, slots=True)
class Correlation(Estimate):
    """A correlation with its two-sided p value; `n` = pairs, `missing` = pairs left out.

    `p` is None with a `p_reason` where the test says nothing; both are None if the correlation
    itself is undefined. `p_method` names the distribution under the null hypothesis.
    """

    p: float | None = None
    p_reason: str | None = None
    p_method: str | None = None


def pearson(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Pearson's r, with p from the t distribution with n - 2 degrees of freedom.

    `x` and `y` are one-dimensional and of equal length, NaN = missing; a pair with a missing value
    is left out. Undefined for fewer than three pairs or a constant list; no p if |r| is 1. Raises
    ValueError for unequal lengths or infinite values.
    Source: Pearson (1895), Proceedings of the Royal Society 58; scipy.stats.pearsonr.
    """
    first, second, missing = complete_pairs(x, y)
    reason = _undefined(first, second)
    if reason:
        return Correlation(None, reason, len(first), missing)
    result = scipy.stats.pearsonr(first, second)
    return _with_t_test(result.statistic, result.pvalue, len(first), missing)


def spearman(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Spearman's rho: Pearson's r of the ranks, ties sharing their mean rank.

    Input, undefined cases, errors and p as `pearson`.
    Source: Spearman (1904), American Journal of Psychology 15(1), 72-101; scipy.stats.spearmanr.
    """
    first, second, missing = complete_pairs(x, y)
    reason = _undefined(first, second)
    if reason:
        return Correlation(None, reason, len(first), missing)
    result = scipy.stats.spearmanr(first, second)
    return _with_t_test(result.statistic, result.pvalue, len(first), missing)


def spearman_from_matrix(matrix: ArrayLike, levels: ArrayLike, missing: int = 0) -> Correlation:
    """Spearman's rho of two sides from how often they gave each pair of levels.

    `matrix` is levels of the first x levels of the second, `levels` ascend. Undefined cases, p and source
    as `spearman`, which takes the same grades one by one.
    """
    cells, scale = np.asarray(matrix, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    of_sides, n = (cells.sum(axis=1), cells.sum(axis=0)), int(cells.sum())
    used = [scale[counts > 0] for counts in of_sides]
    reason = _undefined_for(n, *used)
    if reason:
        return Correlation(None, reason, n, missing)
    # The mean rank of a level, less that of all.
    x, y = (counts.cumsum() - counts / 2 - n / 2 for counts in of_sides)
    spread = (x**2 @ of_sides[0]) * (y**2 @ of_sides[1])
    rho = float(np.clip(x @ cells @ y / np.sqrt(spread), -1, 1))
    free = n - 2
    with np.errstate(divide="ignore"):
        t = abs(rho) * np.sqrt(np.divide(free, (1 + rho) * (1 - rho)))
    return _with_t_test(rho, 2 * float(scipy.stats.t.sf(t, free)), n, missing)


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Kendall's tau-b: concordant less discordant pairs, corrected for ties in either list.

    Input, undefined cases and errors as `pearson`. p is exact without ties up to n = 33, and from
    the normal approximation otherwise.
    Source: Kendall (1945), Biometrika 33(3), 239-251; scipy.stats.kendalltau.
    """
    first, second, missing = complete_pairs(x, y)
    n = len(first)
    reason = _undefined(first, second)
    if reason:
        return Correlation(None, reason, n, missing)
    ties = len(np.unique(first)) < n or len(np.unique(second)) < n
    method = "asymptotic" if ties or n > KENDALL_EXACT_UP_TO else "exact"
    result = scipy.stats.kendalltau(first, second, variant="b", method=method)
    return Correlation(
        float(result.statistic), None, n, missing, p=float(result.pvalue), p_method=method
    )


def _undefined(x: FloatArray, y: FloatArray) -> str | None:
    return _undefined_for(len(x), x, y)


def _undefined_for(n: int, x: FloatArray, y: FloatArray) -> str | None:
    """Return why `n` pairs whose sides have these values have no correlation."""
    if n < 3:
        return f"undefined, because {n} complete pairs are fewer than three"
    if _constant(x) or _constant(y):
        return "undefined, because all values of one list are the same"
    return None


def _constant(values: FloatArray) -> bool:
    # Equal means can differ in their last bits; correlating that noise would look like a finding.
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())


def _with_t_test(r: float, p: float, n: int, missing: int) -> Correlation:
    # A perfect correlation has no spread to test: the t statistic is infinite and p = 0 is empty.
    if 1 - abs(r) < 1e-12:
        reason = "undefined, because the correlation is exactly 1 or -1"
        return Correlation(float(r), None, n, missing, p_reason=reason)
    return Correlation(float(r), None, n, missing, p=float(p), p_method="t")
