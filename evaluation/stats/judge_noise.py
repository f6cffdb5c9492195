"""Noise and bias of a judge: its grades of a pair asked again, or under a changed prompt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evaluation.stats.clusters import leave_one_topic_out_sums, ratio, topic_sums
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

NO_REPLY = "undefined, because no reply of the test has a grade"
NO_VARIANCE = "undefined, because no pair has two grades"
ONE_TOPIC = "no interval, because there is one topic alone"
NO_SPREAD = "no interval, because all grades have changed alike"


@dataclass(frozen=True)
class PairedGrades:
    """Grades of pairs and of their repetitions.

    `original` is by pair, `repeated` pairs x repeats; NaN = no grade, and an original always has one.
    `topics` has the topic of each pair.
    """

    original: FloatArray
    repeated: FloatArray
    topics: IntArray

    @cached_property
    def differences(self) -> FloatArray:
        return np.asarray(self.repeated - self.original[:, np.newaxis])

    @cached_property
    def topic_of_reply(self) -> IntArray:
        return np.repeat(self.topics, self.repeated.shape[1])

    def as_binary(self, threshold: float) -> PairedGrades:
        """Return 1 for grades of at least the threshold, 0 for lower ones."""
        repeated = np.where(np.isnan(self.repeated), np.nan, self.repeated >= threshold)
        return PairedGrades((self.original >= threshold).astype(np.float64), repeated, self.topics)


def share_of_changes(grades: PairedGrades) -> Estimate:
    """Return the share of repeated grades that differ from the original grade.

    `n` counts repeated grades, `missing` replies without one. Interval: see `small_share`.
    """
    return _share(grades, grades.differences != 0)


def share_of_rises(grades: PairedGrades) -> Estimate:
    """Return the share of repeated grades above the original grade; see share_of_changes."""
    return _share(grades, grades.differences > 0)


def _share(grades: PairedGrades, is_true: ArrayLike) -> Estimate:
    is_graded = ~np.isnan(grades.differences)
    n_pairs = int(is_graded.any(axis=1).sum())
    return small_share(np.ravel(is_true), is_graded.ravel(), grades.topic_of_reply, n_pairs)


def share_of_unstable_pairs(grades: PairedGrades) -> Estimate:
    """Return the share of pairs with at least one repeated grade that differs.

    `n` counts pairs with a repeated grade, `missing` the others. Interval: see `small_share`.
    """
    differs = (np.nan_to_num(grades.differences) != 0).any(axis=1)
    is_graded = (~np.isnan(grades.differences)).any(axis=1)
    return small_share(differs, is_graded, grades.topics, int(is_graded.sum()))


def small_share(
    values: ArrayLike, counted: ArrayLike, topics: IntArray, n_units: int, level: float = 0.95
) -> Estimate:
    """Return the share of true values that are counted, with an interval over topics.

    The exact (Clopper-Pearson) interval of as many independent values as have the variance over topics, at
    most all. Where no value is true, or all are, topics tell nothing of the variance: then `n_units`
    independent ones, such as pairs with several replies. Holds for shares near 0 too, where intervals
    from standard errors are too short. None for one topic.
    Source: Korn and Graubard (1998), Survey Methodology 24(2), 193-201.
    """
    is_counted = np.asarray(counted, dtype=bool)
    parts, clusters = np.asarray(values, np.float64)[is_counted], np.asarray(topics)[is_counted]
    n, missing = len(parts), int((~is_counted).sum())
    if not n:
        return Estimate(None, NO_REPLY, 0, missing)
    value = float(parts.mean())
    sums = topic_sums((parts - value)[:, np.newaxis], clusters)[:, 0]
    n_topics = len(sums)
    if n_topics < 2:
        return Estimate(value, None, n, missing, interval_reason=ONE_TOPIC)
    if value in (0, 1):
        n_independent = float(n_units)
    else:
        variance = n_topics / (n_topics - 1) * float((sums**2).sum()) / n**2
        tail = (1 + level) / 2
        freedom = (scipy.stats.t.ppf(tail, n - 1) / scipy.stats.t.ppf(tail, n_topics - 1)) ** 2
        size = value * (1 - value) / variance * freedom if variance else np.inf
        n_independent = float(min(n, size))
    n_true = value * n_independent
    beta = scipy.stats.beta
    low = beta.ppf((1 - level) / 2, n_true, n_independent - n_true + 1) if value > 0 else 0.0
    high = beta.ppf((1 + level) / 2, n_true + 1, n_independent - n_true) if value < 1 else 1.0
    return Estimate(value, None, n, missing, float(low), float(high))


def within_pair_sd(grades: PairedGrades) -> Estimate:
    """Return the standard deviation of the grades of one pair, pooled over pairs.

    The square root of the sums of squares around the mean of each pair, over their degrees of freedom
    (grades of a pair less 1). `n` counts pairs with two grades, `missing` the others. Interval: jackknife
    over topics.
    Source: Bland and Altman (1996), BMJ 313, 744.
    """
    squares, freedom = _sums_of_squares(grades)
    n, missing = int((freedom > 0).sum()), int((freedom == 0).sum())
    if not n:
        return Estimate(None, NO_VARIANCE, n, missing)
    if not squares.any():
        return Estimate(0.0, None, n, missing, interval_reason=NO_SPREAD)
    whole = Estimate(float(np.sqrt(squares.sum() / freedom.sum())), None, n, missing)
    deleted = leave_one_topic_out_sums(np.column_stack([squares, freedom]), grades.topics)
    return jackknife_interval(whole, np.sqrt(ratio(deleted[:, 0], deleted[:, 1]))).within(0, np.inf)


def half_width_of_mean(grades: PairedGrades, n_pairs: int, level: float = 0.95) -> Estimate:
    """Return the half-width of the interval of a mean that the judge's noise gives.

    t * sqrt(within-pair variance / n_pairs) for a mean over `n_pairs`, with the degrees of freedom of the
    pooled variance: the interval of the mean that the judge would give on average, asked again and again
    about the same pairs. Two askings differ by up to sqrt(2) times as much. Noise is independent and of
    one variance. `n` is `n_pairs`. Raises ValueError for a number of pairs below 1.
    """
    if n_pairs < 1:
        raise ValueError("a mean is one over at least one pair")
    squares, freedom = _sums_of_squares(grades)
    n_free = float(freedom.sum())
    if not n_free:
        return Estimate(None, NO_VARIANCE, n_pairs)
    variance = float(squares.sum()) / n_free
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n_free))
    return Estimate(reach * float(np.sqrt(variance / n_pairs)), None, n_pairs)


def mean_change(grades: PairedGrades, level: float = 0.95) -> Estimate:
    """Return the mean of repeated grade less original grade.

    `n` counts repeated grades, `missing` replies without one. Interval: errors by topic (CR1), t with G - 1
    degrees of freedom; none for one topic.
    Source: Cameron and Miller (2015), Journal of Human Resources 50(2), 317-372.
    """
    changes = grades.differences.ravel()
    counted = ~np.isnan(changes)
    n, missing = int(counted.sum()), int((~counted).sum())
    if not n:
        return Estimate(None, NO_REPLY, n, missing)
    mean = float(changes[counted].mean())
    residuals = (changes[counted] - mean)[:, np.newaxis]
    sums = topic_sums(residuals, grades.topic_of_reply[counted])[:, 0]
    n_topics = len(sums)
    if n_topics < 2:
        return Estimate(mean, None, n, missing, interval_reason=ONE_TOPIC)
    if not residuals.any():
        return Estimate(mean, None, n, missing, interval_reason=NO_SPREAD)
    error = float(np.sqrt(n_topics / (n_topics - 1) * (sums**2).sum()) / n)
    reach = error * float(scipy.stats.t.ppf((1 + level) / 2, n_topics - 1))
    return Estimate(mean, None, n, missing, mean - reach, mean + reach)


def _sums_of_squares(grades: PairedGrades) -> tuple[FloatArray, FloatArray]:
    """Return the sum of squares around the mean of each pair, and its degrees of freedom."""
    values = np.column_stack([grades.original, grades.repeated])
    counts = (~np.isnan(values)).sum(axis=1)
    means = np.nansum(values, axis=1) / np.maximum(counts, 1)
    squares = np.nansum((values - means[:, np.newaxis]) ** 2, axis=1)
    return squares, np.maximum(counts - 1, 0).astype(np.float64)
