"""Delete-one-cluster jackknife intervals, for items that come in topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.estimate import Estimate, FloatArray

# A correlation that is 1 but for rounding is 1: its transform would be any large number.
ROUNDING = 1e-12

Statistic = Callable[[NDArray[np.intp]], Estimate]


def jackknife(
    statistic: Statistic, clusters: ArrayLike, level: float = 0.95, *, fisher: bool = False
) -> Estimate:
    """The statistic of all items, with an interval from leaving out one cluster at a time.

    `clusters` names the cluster (topic) of each item; `statistic` is called with the indices of
    the items to keep, first all of them. What the interval is, and when there is none, is said in
    `jackknife_interval`. No items: whatever the statistic says of none, without an interval.
    Raises ValueError if `clusters` is not one-dimensional or has a missing name, or as
    `jackknife_interval`.
    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11; the t
    interval: Tukey (1958), Annals of Mathematical Statistics 29, 614.
    """
    names = np.asarray(clusters)
    if names.ndim != 1 or (names.dtype.kind == "f" and np.isnan(names).any()):
        raise ValueError("clusters name one cluster for every item")
    whole = statistic(np.arange(len(names)))
    deleted = [statistic(np.flatnonzero(names != name)).value for name in np.unique(names)]
    values = [np.nan if value is None else value for value in deleted]
    return jackknife_interval(whole, values, level, fisher=fisher)


def jackknife_interval(
    whole: Estimate, deleted: ArrayLike, level: float = 0.95, *, fisher: bool = False
) -> Estimate:
    """`whole` with the jackknife-t interval that its leave-one-out values give.

    `deleted` has one value per cluster, the statistic without that cluster, NaN where undefined.
    The interval is value +- t(C - 1) x SE, SE^2 = (C - 1)/C x sum of squared deviations from the
    mean of `deleted`. It is not clamped to the range of the statistic; `fisher` computes it on the
    arctanh scale and transforms it back, which keeps a correlation's limits between -1 and 1.
    There is no interval, and `interval_reason` says so, if the value is undefined, with fewer than
    two clusters, if any deletion is undefined, or on the arctanh scale at |value| = 1, to rounding. If no
    deletion changes the value the interval has no width. Raises ValueError if `level` is not
    between 0 and 1, or for `fisher` with a value beyond -1 or 1.
    Source: as `jackknife`.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, not {level}")
    values = np.asarray(deleted, dtype=np.float64)
    size, undefined = len(values), int(np.isnan(values).sum())
    if whole.value is None:
        return _without_interval(whole, "the value itself is undefined")
    if size < 2:
        return _without_interval(whole, "there are fewer than two clusters")
    if undefined:
        reason = f"the value is undefined without {undefined} of the {size} clusters"
        return _without_interval(whole, reason)
    centre = whole.value
    if fisher:
        largest = max(abs(centre), float(np.abs(values).max()))
        if largest > 1 + ROUNDING:
            raise ValueError(f"the Fisher transform is for correlations, not for {largest}")
        if largest > 1 - ROUNDING:
            return _without_interval(whole, "a correlation of 1 or -1 has no Fisher transform")
        centre, values = float(np.arctanh(centre)), np.arctanh(values)
    error = np.sqrt((size - 1) / size * ((values - values.mean()) ** 2).sum())
    reach = t_quantile((1 + level) / 2, size - 1) * float(error)
    low, high = centre - reach, centre + reach
    if fisher:
        low, high = float(np.tanh(low)), float(np.tanh(high))
    return replace(whole, low=low, high=high, interval_reason=None)


def jackknife_intervals(wholes: Sequence[Estimate], deleted: FloatArray) -> list[Estimate]:
    """Return `jackknife_interval` of several statistics; `deleted` is clusters x statistics."""
    size = len(deleted)
    if size < 2:
        return [jackknife_interval(*pair) for pair in zip(wholes, deleted.T, strict=True)]
    errors = np.sqrt((size - 1) / size * ((deleted - deleted.mean(axis=0)) ** 2).sum(axis=0))
    reaches = t_quantile(0.975, size - 1) * errors
    return [
        jackknife_interval(whole, deleted[:, column])
        if whole.value is None or np.isnan(reach)
        else replace(whole, low=whole.value - reach, high=whole.value + reach, interval_reason=None)
        for column, (whole, reach) in enumerate(zip(wholes, reaches.tolist(), strict=True))
    ]


def _without_interval(whole: Estimate, reason: str) -> Estimate:
    return replace(whole, low=None, high=None, interval_reason=f"no interval, because {reason}")


@lru_cache
def t_quantile(probability: float, freedom: int) -> float:
    """Return a quantile of Student's t; a report has thousands of intervals with the same."""
    return float(scipy.stats.t.ppf(probability, freedom))
