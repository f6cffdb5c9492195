"""Agreement of raters on quantities: intraclass correlation, Bland-Altman limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, complete_pairs

REACH = 1.96  # standard deviations to either side that hold 95% of normal differences

ROUNDING = 1e-12  # of the mean squares: what their sum may be beside 0


@dataclass(frozen=True)
class Intraclass:
    """Absolute agreement of one rater of these (ICC(2,1)), and of the mean of all (ICC(2,k))."""

    single: Estimate
    mean: Estimate

    @property
    def named(self) -> dict[str, Estimate]:
        """By the names that Shrout and Fleiss gave them."""
        return {"ICC(2,1)": self.single, "ICC(2,k)": self.mean}


@dataclass(frozen=True)
class Limits:
    """Bland-Altman limits: mean difference of two raters, and the range of 95% of differences.

    Differences are the first's grade minus the second's. A grade is a quantity here.
    """

    bias: Estimate
    low: Estimate
    high: Estimate


def intraclass(ratings: ArrayLike) -> Intraclass:
    """ICC(2,1) and ICC(2,k) of items x raters, NaN = missing: both random, absolute agreement.

    Items that a rater left out are left out, and counted in `missing`. Undefined for fewer than two
    raters or two items rated by all, and where every grade is the same. Raises ValueError for
    another shape.
    Source: Shrout and Fleiss (1979), Psychological Bulletin 86(2), 420-428, ICC(2,1) and ICC(2,k)
    from the mean squares of a two-way analysis of variance.
    """
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"ratings are items x raters, not {values.shape}")
    full = ~np.isnan(values).any(axis=1)
    grades, missing = values[full], int((~full).sum())
    n, k = grades.shape

    def undefined(reason: str) -> Intraclass:
        estimate = Estimate(None, f"undefined, because {reason}", n, missing)
        return Intraclass(estimate, estimate)

    if k < 2:
        return undefined("it takes two raters")
    if n < 2:
        return undefined("fewer than two items were rated by all")
    mean = grades.mean()
    by_item, by_rater = grades.mean(axis=1), grades.mean(axis=0)
    rows = k * float(((by_item - mean) ** 2).sum()) / (n - 1)
    columns = n * float(((by_rater - mean) ** 2).sum()) / (k - 1)
    residual = grades - by_item[:, np.newaxis] - by_rater + mean
    error = float((residual**2).sum()) / ((n - 1) * (k - 1))
    if not np.ptp(grades):
        return undefined("all grades are the same")
    of_one = rows + (k - 1) * error + k * (columns - error) / n
    of_mean = rows + (columns - error) / n

    def estimate(whole: float) -> Estimate:
        if whole <= ROUNDING * (rows + columns + error):
            return Estimate(None, "undefined, because items differ by nothing", n, missing)
        return Estimate((rows - error) / whole, None, n, missing)

    return Intraclass(estimate(of_one), estimate(of_mean))


def limits_of_agreement(a: ArrayLike, b: ArrayLike) -> Limits:
    """Return Bland and Altman's bias and 95% limits of agreement: mean +- 1.96 sd.

    `a` and `b` are grades of the same items, one-dimensional, NaN = missing; items without both are
    left out. No item: all undefined; one item: no limits, since one difference does not spread.
    Errors as `estimate.complete_pairs`.
    Source: Bland and Altman (1986), The Lancet 327, 307-310.
    """
    first, second, missing = complete_pairs(a, b)
    return limits_from_counts(*np.unique(first - second, return_counts=True), missing)


def limits_from_counts(differences: ArrayLike, counts: ArrayLike, missing: int = 0) -> Limits:
    """Return the limits of agreement of differences that occur as often as `counts` says.

    Undefined cases and source as `limits_of_agreement`.
    """
    values, weights = np.asarray(differences, dtype=np.float64), np.asarray(counts)
    n = int(weights.sum())
    if not n:
        none = Estimate(None, "undefined, because no item was rated by both raters", 0, missing)
        return Limits(none, none, none)
    mean = float(values @ weights) / n
    bias = Estimate(mean, None, n, missing)
    if n < 2:
        one = Estimate(None, "undefined, because one difference does not spread", n, missing)
        return Limits(bias, one, one)
    reach = REACH * float(np.sqrt((values - mean) ** 2 @ weights / (n - 1)))
    low, high = (Estimate(mean + side * reach, None, n, missing) for side in (-1, 1))
    return Limits(bias, low, high)
