"""Statistics with their interval over topics, computed from sums per topic without loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, IntArray, level_index
from evaluation.stats.jackknife import jackknife_interval, jackknife_intervals

ONE_TOPIC = "no interval, because there is one topic alone"


def topic_sums(terms: ArrayLike, topics: IntArray) -> FloatArray:
    """Return the sums of the items' terms over each topic: sorted topics x terms.

    `terms` is items x terms, `topics` the topic of each item.
    """
    names, index = np.unique(topics, return_inverse=True)
    values = np.asarray(terms, dtype=np.float64)
    sums = np.zeros((len(names), values.shape[1]))
    for term, column in enumerate(values.T):
        sums[:, term] = np.bincount(index, weights=column, minlength=len(names))
    return sums


def leave_one_out_sums(sums: ArrayLike) -> FloatArray:
    """Return leave-one-out sums: for each topic the sum over all others.

    `sums` has one row (or matrix) a topic.

    What stands before a topic and what stands after it are added up, and nothing is subtracted from
    a total, so an exact zero stays one; and the time grows with the topics, not with their square. Whole
    numbers are subtracted, which is exact.
    """
    values = np.asarray(sums)
    if np.issubdtype(values.dtype, np.integer):
        return np.asarray(values.sum(axis=0) - values, dtype=np.float64)
    values = values.astype(np.float64, copy=False)
    none = np.zeros((1, *values.shape[1:]))
    prefix_sums = np.concatenate([none, values.cumsum(axis=0)])
    suffix_sums = np.concatenate([values[::-1].cumsum(axis=0)[::-1], none])
    return np.asarray(prefix_sums[:-1] + suffix_sums[1:])


def leave_one_topic_out_sums(terms: ArrayLike, topics: IntArray) -> FloatArray:
    """Sums of the items' terms over all topics but one, for each topic: topics x terms.

    `terms` is items x terms, `topics` the topic of each item.
    """
    return leave_one_out_sums(topic_sums(terms, topics))


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, NaN where there is no whole."""
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def binary(grades: FloatArray, eta: float) -> FloatArray:
    """1 for grades of at least eta, 0 for the others, NaN where missing."""
    return np.where(np.isnan(grades), np.nan, grades >= eta)


def share(values: ArrayLike, counted: ArrayLike, topics: IntArray, why_empty: str) -> Estimate:
    """Return `mean_of_items` of values from 0 to 1, with its interval clipped to this range."""
    return mean_of_items(values, counted, topics, why_empty).within(0, 1)


def mean_of_items(
    values: ArrayLike, counted: ArrayLike, topics: IntArray, why_empty: str
) -> Estimate:
    """The mean of the values that are counted, with its jackknife interval over topics.

    `values` and `counted` (0 or 1) are one per item; `n` = counted items, `missing` = the others.
    Nothing counted: undefined, because of `why_empty`.
    """
    weights = np.asarray(counted, dtype=np.float64)
    parts = np.where(weights > 0, np.nan_to_num(np.asarray(values, dtype=np.float64)), 0.0)
    n = int(weights.sum())
    missing = len(weights) - n
    if not n:
        reason = why_empty.removeprefix("undefined, because ")
        return Estimate(None, f"undefined, because {reason}", 0, missing)
    deleted = leave_one_topic_out_sums(np.column_stack([parts, weights]), topics)
    whole = Estimate(float(parts.sum() / n), None, n, missing)
    return jackknife_interval(whole, ratio(deleted[:, 0], deleted[:, 1]))


def means_of_counts(by_topic: IntArray, values: ArrayLike, why_empty: str) -> list[Estimate]:
    """Return means over items, with their intervals, from how often each level was given.

    `by_topic` is topics x levels, `values` means x levels: what an item of each level adds to each
    mean. As `mean_of_items`, of items that all have a grade.
    """
    weights = np.asarray(values, dtype=np.float64).T
    n = int(by_topic.sum())
    if not n:
        return [Estimate(None, why_empty, 0) for _ in weights.T]
    leave_one_out = leave_one_out_sums(by_topic)
    deleted, remaining = leave_one_out @ weights, leave_one_out.sum(axis=1)
    means = by_topic.sum(axis=0) @ weights / n
    return jackknife_intervals(
        [Estimate(mean, None, n) for mean in means.tolist()],
        ratio(deleted, np.broadcast_to(remaining[:, np.newaxis], deleted.shape)),
    )


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """Mean of items with its standard error over topics (CR1).

    t has `n_topics` - 1 degrees of freedom.

    `error` is None with one topic. `topic_size` is the mean number of items of a topic.
    """

    value: float
    n: int
    n_topics: int
    error: float | None

    @property
    def topic_size(self) -> float:
        return self.n / self.n_topics

    @property
    def topic_sd(self) -> float | None:
        """The standard deviation of sums of residuals over topics, divided by the topic size."""
        return None if self.error is None else self.error * math.sqrt(self.n_topics)

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Return the ends of the interval, None with one topic."""
        if self.error is None:
            return None
        reach = self.error * float(scipy.stats.t.ppf((1 + level) / 2, self.n_topics - 1))
        return self.value - reach, self.value + reach

    def estimate(self, missing: int = 0, level: float = 0.95) -> Estimate:
        """Return the mean with its interval."""
        ends = self.interval(level)
        if ends is None:
            return Estimate(self.value, None, self.n, missing, interval_reason=ONE_TOPIC)
        return Estimate(self.value, None, self.n, missing, *ends)


def clustered_mean(values: FloatArray, topics: IntArray) -> ClusteredMean:
    """Return the mean of at least one value, with its standard error over topics.

    CR1: G / (G - 1) times the squares of the residuals summed over each of G topics. Source: Cameron
    and Miller (2015), Journal of Human Resources 50(2), 317-372.
    """
    n, mean = len(values), float(values.mean())
    sums = topic_sums((values - mean)[:, np.newaxis], topics)[:, 0]
    n_topics = len(sums)
    error = None
    if n_topics > 1:
        error = float(np.sqrt(n_topics / (n_topics - 1) * (sums**2).sum()) / n)
    return ClusteredMean(mean, n, n_topics, error)


def level_sums(
    a: FloatArray,
    b: FloatArray,
    levels: tuple[Sequence[int], Sequence[int]],
    topics: IntArray,
) -> IntArray:
    """Return the confusion matrix of two sides' levels for each topic.

    `a`, `b` and `topics` are one per item, `levels` the scales of the two sides. Returns topics x
    levels of `a` x levels of `b`; an item without both grades is in no count.
    """
    names, index = np.unique(topics, return_inverse=True)
    rows, columns = len(levels[0]), len(levels[1])
    first, second = level_index(a, levels[0]), level_index(b, levels[1])
    rated = (first >= 0) & (second >= 0)
    cells = (index[rated] * rows + first[rated]) * columns + second[rated]
    counts = np.bincount(cells, minlength=len(names) * rows * columns)
    return counts.reshape(len(names), rows, columns).astype(np.int64)
