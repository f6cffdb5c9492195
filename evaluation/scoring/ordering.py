"""How far two metrics put systems in the same order, with the uncertainty of the topics."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from evaluation.stats.bootstrap import cluster_bootstrap
from evaluation.stats.correlation import Correlation, kendall_tau_b
from evaluation.stats.estimate import FloatArray

RESAMPLES = 2_000
MOST = 100  # systems whose order is resampled: the work grows with their square
ROUNDING = 9  # decimals: sums of equal scores differ in their last bits, and are ties


def comparable(values: FloatArray) -> FloatArray:
    """`values`, topics x systems, with NaN throughout for a system that lacks some topic.

    The mean of a system over other topics than the others' says as much about the topics as about
    the system. A topic on which the metric is undefined for every system is none of them.
    """
    defined = ~np.isnan(values)
    asked = defined.any(axis=1)
    return np.where(defined[asked].all(axis=0), values, np.nan)


def means(values: FloatArray) -> FloatArray:
    """The mean of each system over its topics, NaN for one without any: one value a system."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    sums = np.where(defined, values, 0.0).sum(axis=0)
    return np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)


def order_agreement(x: FloatArray, y: FloatArray) -> Correlation:
    """Kendall's tau-b between the systems' means of two metrics.

    `x` and `y` are topics x systems, NaN = undefined. Within each metric only systems are compared
    that have all of its topics; `n` counts those that both metrics compare, `missing` the others.
    The interval is a percentile bootstrap over topics (2,000 resamples, seed 0): systems stay the
    same ones. Undefined, and without an interval, as `kendall_tau_b` and `cluster_bootstrap` say.
    Source: CRUX (Ju et al., 2025), section 4.2; Kendall (1945), Biometrika 33(3), 239-251.
    """
    first, second = comparable(x), comparable(y)
    by_mean = [np.round(means(values), ROUNDING) for values in (first, second)]
    tau = kendall_tau_b(*by_mean)
    if tau.n < 3:
        have = "1 system has" if tau.n == 1 else f"{tau.n} systems have"
        reason = f"undefined, because {have} both on all topics, and three are needed"
        return replace(tau, reason=reason)
    if tau.n > MOST:
        return replace(tau, interval_reason=f"no interval, because there are over {MOST} systems")
    both = ~np.isnan(by_mean).any(axis=0)
    sums = np.nan_to_num(np.stack([first[:, both], second[:, both]], axis=1))
    drawn = cluster_bootstrap(tau, sums, _tau_of_sums, resamples=RESAMPLES)
    return replace(tau, low=drawn.low, high=drawn.high, interval_reason=drawn.interval_reason)


def _tau_of_sums(sums: FloatArray) -> FloatArray:
    """Tau-b of each resample: resamples x 2 x systems. Sums over the same topics order as means."""
    rounded = np.round(sums, ROUNDING)
    concordant, x_apart, y_apart = np.zeros((3, len(sums)))
    for a, b in combinations(range(sums.shape[2]), 2):
        x, y = np.sign(rounded[:, :, a] - rounded[:, :, b]).T
        concordant += x * y
        x_apart += x * x
        y_apart += y * y
    pairs = np.sqrt(x_apart * y_apart)
    return np.divide(concordant, pairs, out=np.full(len(sums), np.nan), where=pairs > 0)
