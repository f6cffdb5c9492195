"""How far what a judge expects is what people say: the calibration curve, its error, and Brier's score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.clusters import share, topic_sums, without_each
from evaluation.stats.estimate import Estimate, FloatArray, IntArray, complete_pairs
from evaluation.stats.jackknife import jackknife_interval

NO_PAIR = "undefined, because no rating has a value that the judge expected"


@dataclass(frozen=True, slots=True)
class Bin:
    """One point of the curve: `n` ratings whose expected value is above `low`, up to `high`."""

    low: float
    high: float
    n: int
    expected: float | None
    observed: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curve, and what it comes to. `n` of every estimate counts ratings.

    `error` is the expected calibration error, `squared` the mean squared difference (of
    probabilities: Brier's score), `bias` the mean expected value less the mean observed one.
    """

    bins: tuple[Bin, ...]
    error: Estimate
    squared: Estimate
    bias: Estimate


def calibration(
    expected: ArrayLike, observed: ArrayLike, topics: IntArray, edges: Sequence[float]
) -> Calibration:
    """Expected values against observed ones: probabilities against 0 and 1, or grades against grades.

    `expected` and `observed` are one per rating, NaN = missing; a rating without both is left out
    and counted in `missing`. `topics` is the topic of each. `edges` bound the bins and ascend; a
    value on an edge is in the bin below it. The error is the sum over bins of n_b / n x |mean
    expected - mean observed|: 0 for a judge that means what it says, and seldom 0 by chance. It
    depends on the bins, and few ratings make it too large. Intervals: jackknife over topics.
    Undefined without a complete pair. Raises ValueError for lists of unequal lengths, edges that do
    not ascend, or an expected value beyond them.
    Source: Naeini, Cooper and Hauskrecht (2015), AAAI, 2901-2907; Brier (1950), Monthly Weather
    Review 78(1), 1-3. Of 0 and 1 the points are those of scikit-learn's calibration_curve, which
    knows neither grades nor topics.
    """
    first, second, missing = complete_pairs(expected, observed)
    names = np.asarray(topics)
    if names.shape != np.shape(expected):
        raise ValueError("topics name one topic for every rating")
    limits = np.asarray(edges, dtype=np.float64)
    if len(limits) < 2 or (np.diff(limits) <= 0).any():
        raise ValueError("edges are two or more in ascending order")
    if len(first) and not limits[0] <= first.min() <= first.max() <= limits[-1]:
        raise ValueError(f"expected values lie between {limits[0]} and {limits[-1]}")
    both = ~(np.isnan(np.asarray(expected, float)) | np.isnan(np.asarray(observed, float)))
    place = np.searchsorted(limits[1:-1], first)
    sums = _sums(first, second, place, names[both], len(limits) - 1)
    n, of_expected, of_observed = sums.sum(axis=0)
    bins = tuple(
        Bin(
            float(low),
            float(high),
            int(count),
            float(x / count) if count else None,
            float(y / count) if count else None,
        )
        for low, high, count, x, y in zip(
            limits[:-1], limits[1:], n, of_expected, of_observed, strict=True
        )
    )
    return Calibration(
        bins=bins,
        error=_error(sums, missing),
        squared=_mean((first - second) ** 2, names[both], missing),
        bias=_mean(first - second, names[both], missing),
    )


def _sums(
    expected: FloatArray, observed: FloatArray, place: NDArray[np.intp], topics: IntArray, size: int
) -> FloatArray:
    """Topics x (number, sum of expected, sum of observed) x bins."""
    inside = place[:, np.newaxis] == np.arange(size)
    terms = np.stack(
        [inside, inside * expected[:, np.newaxis], inside * observed[:, np.newaxis]], 1
    )
    return topic_sums(terms.reshape(len(place), 3 * size), topics).reshape(-1, 3, size)


def _error(sums: FloatArray, missing: int) -> Estimate:
    def of(rows: FloatArray) -> FloatArray:
        n = rows[..., 0, :].sum(axis=-1)
        gaps = np.abs(rows[..., 1, :] - rows[..., 2, :]).sum(axis=-1)
        return np.divide(gaps, n, out=np.full(np.shape(n), np.nan), where=n > 0)

    whole = sums.sum(axis=0)
    n = int(whole[0].sum())
    if not n:
        return Estimate(None, NO_PAIR, 0, missing)
    return jackknife_interval(Estimate(float(of(whole)), None, n, missing), of(without_each(sums)))


def _mean(values: FloatArray, topics: IntArray, missing: int) -> Estimate:
    mean = share(values, np.ones(len(values)), topics, NO_PAIR)
    return Estimate(
        mean.value, mean.reason, mean.n, missing, mean.low, mean.high, mean.interval_reason
    )
