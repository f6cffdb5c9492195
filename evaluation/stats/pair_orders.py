"""Pairs of systems that a metric separates, and pairs that two metrics order oppositely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.stats.estimate import FloatArray

ALPHA = 0.05
ROUNDING = 9  # decimals: means of equal values differ in their last bits, and are ties

SignArray = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Reversals:
    """Counts of pairs of systems under two metrics.

    `separated` pairs differ by at least one of the metrics (paired t test over its topics, p <
    ALPHA, two-sided, each pair alone). `reversed` ones among them have their means in opposite
    orders; a tie is no reversal. `pairs` are all.
    """

    reversed: int
    separated: int
    pairs: int

    @property
    def wording(self) -> str:
        """The count as pages print it."""
        return f"{self.reversed} of {self.separated}"


def reversals(x: FloatArray, y: FloatArray) -> Reversals | None:
    """Count the pairs of systems that one metric separates and the other reverses.

    `x` and `y` are topics x systems, the same systems in the same order, complete; the metrics may
    have topics of their own, so the rows need not correspond. None where either has fewer than two
    topics, since nothing is separated there. Raises ValueError for unlike numbers of systems.
    Source: the pairs as `separated`; counts of reversed pairs beside a rank correlation as in
    Sanderson and Soboroff (2007), Problems with Kendall's tau, SIGIR, 839-840.
    """
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError(f"two metrics of the same systems are needed, not {x.shape}, {y.shape}")
    if min(len(x), len(y)) < 2:
        return None
    either = (separated(x) != 0) | (separated(y) != 0)
    opposite = mean_order(x) * mean_order(y) < 0
    return Reversals(int((either & opposite).sum()), int(either.sum()), len(either))


def mean_order(values: FloatArray) -> SignArray:
    """The sign of the difference of the means of every two systems: 1, 0 for a tie, or -1.

    `values` is topics x systems, complete. One entry a pair, in the order of `numpy.triu_indices`.
    """
    first, second = _pairs(values)
    means = values.mean(axis=0)
    return np.sign(np.round(means[first] - means[second], ROUNDING)).astype(np.int8)


def separated(values: FloatArray, alpha: float = ALPHA) -> SignArray:
    """The sign of the difference where a paired t test over topics finds one, else 0.

    `values` is topics x systems, complete; two-sided at `alpha`, each pair alone. A difference that
    is the same on every topic and not 0 is found. One entry a pair, as in `mean_order`. Raises
    ValueError for fewer than two topics.
    Source: Student (1908), Biometrika 6(1), 1-25; scipy.stats.ttest_rel.
    """
    n = len(values)
    if n < 2:
        raise ValueError("a paired test takes two topics")
    first, second = _pairs(values)
    # cov(a - b) from the covariances of all systems: no array of pairs x topics
    spread = np.atleast_2d(np.cov(values, rowvar=False))
    variance = spread[first, first] + spread[second, second] - 2 * spread[first, second]
    scale = np.maximum(np.abs(values).max(initial=0.0), 1e-300) ** 2
    error = np.sqrt(np.where(variance <= 1e-14 * scale, 0.0, variance) / n)
    means = values.mean(axis=0)
    limit = float(scipy.stats.t.ppf(1 - alpha / 2, n - 1))
    is_significant = np.abs(means[first] - means[second]) > limit * error
    return np.where(is_significant, mean_order(values), 0).astype(np.int8)


def _pairs(values: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    first, second = np.triu_indices(values.shape[1], 1)
    return first, second
