"""Calibration of a judge's expected values: reliability curve, ECE and Brier score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.clusters import leave_one_out_sums, mean_of_items, topic_sums
from evaluation.stats.estimate import Estimate, FloatArray, IntArray, complete_pairs
from evaluation.stats.jackknife import jackknife_interval

NO_PAIR = "undefined, because no rating has a value that the judge expected"
FEWEST = 20  # topics of the error's interval: with fewer it holds too seldom (docs/metrics.md, Intervals)
BIASED = "no interval, because chance alone makes it larger than it is: the debiased error has one"


@dataclass(frozen=True, slots=True)
class Bin:
    """Bin of the curve: `n` ratings whose expected value is above `low`, up to `high`."""

    low: float
    high: float
    n: int
    expected: float | None
    observed: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curve, and what it comes to. `n` of every estimate counts ratings.

    `error` is the expected calibration error, `debiased` the same without what chance adds to it,
    `squared` the mean squared difference (of probabilities: Brier's score), `bias` the mean expected
    value less the mean observed one.
    """

    bins: tuple[Bin, ...]
    error: Estimate
    debiased: Estimate
    squared: Estimate
    bias: Estimate


def calibration(
    expected: ArrayLike,
    observed: ArrayLike,
    topics: IntArray,
    edges: Sequence[float],
    *,
    fewest: int = FEWEST,
) -> Calibration:
    """Return the calibration of expected values against observed ones.

    Expected probabilities are compared with 0 and 1, expected grades with grades.

    Probabilities are compared with 0 and 1, expected grades with grades.

    `expected` and `observed` are one per rating, NaN = missing; a rating without both is left out
    and counted in `missing`. `topics` is the topic of each. `edges` bound the bins and ascend; a
    value on an edge is in the bin below it. The error is the sum over bins of n_b / n x |mean
    expected - mean observed|: 0 for a judge that means what it says, and seldom 0 by chance. It
    depends on the bins, and few ratings make it too large. `debiased` takes from it what chance
    adds to each bin: E|N(gap, se^2)| - |gap|, se the jackknife's over topics; it is not below 0. It
    has an interval from `fewest` topics on, the error itself none. Intervals: jackknife over topics,
    within what the statistic can be. Undefined without a complete pair; `debiased` also with one
    topic. Raises ValueError for lists of unequal lengths, edges that do not ascend, or an expected
    value beyond them.
    Source: Naeini, Cooper and Hauskrecht (2015), AAAI, 2901-2907; Brier (1950), Monthly Weather
    Review 78(1), 1-3; debiasing by a normal gap in each bin: Kumar, Liang and Ma (2019), Verified
    Uncertainty Calibration, NeurIPS 32, there with the error of single ratings, here of topics. Of 0
    and 1 the points are those of scikit-learn's calibration_curve, which knows neither grades nor
    topics.
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
    bin_index = np.searchsorted(limits[1:-1], first)
    sums = _sums(first, second, bin_index, names[both], len(limits) - 1)
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
    reach = float(limits[-1] - limits[0])
    error, debiased = _errors(sums, missing, fewest)
    return Calibration(
        bins=bins,
        error=error,
        debiased=debiased.within(0, reach),
        squared=_mean((first - second) ** 2, names[both], missing).within(0, reach**2),
        bias=_mean(first - second, names[both], missing).within(-reach, reach),
    )


def _sums(
    expected: FloatArray,
    observed: FloatArray,
    bin_index: NDArray[np.intp],
    topics: IntArray,
    size: int,
) -> FloatArray:
    """Topics x (number, sum of expected, sum of observed) x bins."""
    inside = bin_index[:, np.newaxis] == np.arange(size)
    terms = np.stack(
        [inside, inside * expected[:, np.newaxis], inside * observed[:, np.newaxis]], 1
    )
    return topic_sums(terms.reshape(len(bin_index), 3 * size), topics).reshape(-1, 3, size)


def _errors(sums: FloatArray, missing: int, fewest: int) -> tuple[Estimate, Estimate]:
    """The expected calibration error, and the debiased one with its interval."""
    n, n_topics = int(sums[:, 0].sum()), len(sums)
    if not n:
        none = Estimate(None, NO_PAIR, 0, missing)
        return none, none
    gaps = _gaps(sums.sum(axis=0))
    error = Estimate(float(np.abs(gaps).sum()), None, n, missing, interval_reason=BIASED)
    if n_topics < 2:
        reason = "undefined, because the spread over topics takes two of them"
        return error, Estimate(None, reason, n, missing)
    deleted = _gaps(leave_one_out_sums(sums))
    centred = deleted - deleted.mean(axis=0)
    se = np.sqrt((n_topics - 1) / n_topics * (centred**2).sum(axis=0))
    value = float((np.abs(gaps) - _added(gaps, se)).sum())
    if n_topics < fewest:
        reason = f"no interval, because with fewer than {fewest} topics none holds, and there are {n_topics}"
        return error, Estimate(max(value, 0.0), None, n, missing, interval_reason=reason)
    leave_one_out = (np.abs(deleted) - _added(deleted, se)).sum(axis=-1)
    interval = jackknife_interval(Estimate(value, None, n, missing), leave_one_out)
    return error, replace(interval, value=max(value, 0.0))


def _gaps(sums: FloatArray) -> FloatArray:
    """Each bin's part of the mean expected less the mean observed value: ... x bins."""
    return np.asarray((sums[..., 1, :] - sums[..., 2, :]) / sums[..., 0, :].sum(axis=-1)[..., None])


def _added(gaps: FloatArray, se: FloatArray) -> FloatArray:
    """Excess of the mean of |N(gap, se^2)|, a folded normal distribution, over |gap|."""
    scaled = np.abs(gaps) / np.where(se > 0, se, 1.0)
    density, tail = scipy.stats.norm.pdf(scaled), scipy.stats.norm.sf(scaled)
    return np.where(se > 0, 2 * se * (density - scaled * tail), 0.0)


def _mean(values: FloatArray, topics: IntArray, missing: int) -> Estimate:
    mean = mean_of_items(values, np.ones(len(values)), topics, NO_PAIR)
    return Estimate(
        mean.value, mean.reason, mean.n, missing, mean.low, mean.high, mean.interval_reason
    )
