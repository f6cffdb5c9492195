"""Krippendorff's alpha, for any number of raters, missing ratings and ordered levels.

It is a function of a coincidence matrix, which adds up over units, so that the alphas of all
resamples of topics are one call. The krippendorff package gives the same alphas, but of one matrix
at a time, and without the disagreements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.fleiss import counts

Metric = Literal["nominal", "ordinal", "interval", "jaccard", "masi"]
SET_METRICS: tuple[Metric, ...] = ("masi", "jaccard")  # of levels that are sets of labels


@dataclass(frozen=True, slots=True)
class Alpha(Estimate):
    """Alpha = 1 - observed / expected disagreement.

    `n` counts the units with two or more ratings, which hold `n_values` ratings, and `missing` the
    other units. Disagreements are means of the squared distances of two ratings: in 0 or 1, in
    ranks or in grades, as the metric says.
    """

    observed: float | None = None
    expected: float | None = None
    n_values: int = 0


def krippendorff_alpha(ratings: ArrayLike, metric: Metric) -> Alpha:
    """Krippendorff's alpha of raters x units, NaN = missing.

    `metric` says how far apart two grades are: "nominal" 0 or 1; "interval" their difference;
    "ordinal" the number of ratings from one to the other, of which those at both ends count half.
    For "jaccard" and "masi" a rating is a set of labels as bits of an integer, and the squared
    distance is that of `set_distances`.
    A unit with one rating counts in nothing. Undefined if no unit has two ratings or if all those
    of such units are in one category. Raises ValueError for another shape, infinite ratings or an
    unknown metric.
    Source: Krippendorff (2019), Content Analysis, 4th edition, chapter 12.
    """
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"ratings are raters x units, not {values.shape}")
    if np.isinf(values).any():
        raise ValueError("a rating is a finite number, or NaN where it is missing")
    levels = np.unique(values[~np.isnan(values)])
    levels = np.append(levels, levels.max(initial=0) + np.array([1, 2]))  # a scale has two levels
    tallies = counts(values.T, levels)
    one_topic = np.zeros(len(tallies), dtype=np.int64)
    return alpha_of_counts(
        tallies, coincidences_of_counts(tallies, one_topic).sum(axis=0), levels, metric
    )


def alpha_of_counts(
    tallies: IntArray, sums: FloatArray, levels: ArrayLike, metric: Metric
) -> Alpha:
    """Return `krippendorff_alpha` from the counts of each unit's levels: units x levels.

    `sums` is their coincidence matrix, `levels` ascend.
    """
    _distances(np.ones(1), np.ones(1), metric)
    n_ratings = tallies.sum(axis=1)
    pairable = n_ratings >= 2
    n, missing = int(pairable.sum()), int((~pairable).sum())
    if not n:
        return Alpha(None, "undefined, because no unit has two ratings", 0, missing)
    n_values = int(n_ratings[pairable].sum())
    used = np.flatnonzero(tallies[pairable].sum(axis=0))
    if len(used) < 2:
        reason = "undefined, because all ratings are in one category"
        return Alpha(None, reason, n, missing, n_values=n_values)
    scale = np.asarray(levels, dtype=np.float64)[used]
    observed, expected = _disagreements(sums[np.ix_(used, used)], scale, metric)
    return Alpha(
        float(1 - observed / expected),
        None,
        n,
        missing,
        observed=float(observed),
        expected=float(expected),
        n_values=n_values,
    )


def coincidences(ratings: ArrayLike, levels: ArrayLike, topics: ArrayLike) -> FloatArray:
    """Return each topic's terms of the coincidence matrix: sorted topics x levels x levels.

    `ratings` is raters x units, NaN = missing, `levels` the whole scale, used or not, `topics` one per
    unit. Each ordered pair of a unit's m ratings adds 1 / (m - 1), so the unit adds m in all. A unit
    with fewer than two ratings adds nothing. Errors as `fleiss.counts`.
    Source: as `krippendorff_alpha`.
    """
    tallies = counts(np.asarray(ratings, dtype=np.float64).T, levels)
    return coincidences_of_counts(tallies, topics)


def coincidences_of_counts(tallies: IntArray, topics: ArrayLike) -> FloatArray:
    """Return `coincidences` from the counts of each unit's levels: units x levels."""
    matrix = tallies.astype(np.float64)
    shares = matrix / np.maximum(matrix.sum(axis=1) - 1, 1)[:, np.newaxis]
    names, index = np.unique(np.asarray(topics), return_inverse=True)
    order = np.argsort(index, kind="stable")
    bounds = np.cumsum(np.bincount(index, minlength=len(names)))
    n_levels = matrix.shape[1]
    sums = np.empty((len(names), n_levels, n_levels))
    # By topic, since units x levels x levels of a rubric with many sets of labels fill the memory.
    for topic, units in enumerate(np.split(order, bounds)[:-1]):
        sums[topic] = shares[units].T @ matrix[units]
        sums[topic, np.arange(n_levels), np.arange(n_levels)] -= shares[units].sum(axis=0)
    return sums


def alpha_from_coincidences(sums: ArrayLike, levels: ArrayLike, metric: Metric) -> FloatArray:
    """Alpha of each matrix of summed `coincidences` on the last two axes; NaN if undefined.

    `levels` are in ascending order. Undefined are sums of no pairs, and of pairs that are all in
    one category. Raises ValueError for levels that do not ascend or do not fit the sums, or an
    unknown metric. Source: as `krippendorff_alpha`.
    """
    matrix, scale = np.asarray(sums, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    if matrix.shape[-2:] != (len(scale), len(scale)):
        raise ValueError(f"a matrix of {len(scale)} levels is square, not {matrix.shape}")
    if (np.diff(scale) <= 0).any():
        raise ValueError("levels are in ascending order")
    observed, expected = _disagreements(matrix, scale, metric)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected > 0, 1 - observed / expected, np.nan))


def _disagreements(
    matrix: FloatArray, levels: FloatArray, metric: Metric
) -> tuple[FloatArray, FloatArray]:
    totals = matrix.sum(axis=-1)
    squares = _distances(totals, levels, metric) ** 2
    n = totals.sum(axis=-1)
    chance = totals[..., :, np.newaxis] * totals[..., np.newaxis, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (matrix * squares).sum(axis=(-2, -1)) / n
        expected = (chance * squares).sum(axis=(-2, -1)) / (n * (n - 1))
    return observed, expected


def _distances(totals: FloatArray, levels: FloatArray, metric: Metric) -> FloatArray:
    """Return the distances between levels; ordinal ones depend on how often each is used."""
    if metric == "nominal":
        return (levels[:, np.newaxis] != levels).astype(np.float64)
    if metric in SET_METRICS:
        return np.asarray(np.sqrt(set_distances(levels, metric)))  # they are squared by the caller
    if metric == "interval":
        return np.abs(levels[:, np.newaxis] - levels)
    if metric == "ordinal":
        # The middle of each level's ratings when all ratings are lined up.
        middles = totals.cumsum(axis=-1) - totals / 2
        return np.abs(middles[..., :, np.newaxis] - middles[..., np.newaxis, :])
    raise ValueError(f"a metric is one of {', '.join(get_args(Metric))}, not {metric!r}")


def set_distances(levels: ArrayLike, metric: Metric) -> FloatArray:
    """Return the distances of sets of labels, as bits of integers: levels x levels, 0 to 1.

    "jaccard": 1 - J, where J is the size of the intersection over that of the union, 1 for two
    empty sets. "masi": 1 - J * M, where M is 1 for equal sets, 2/3 where one includes the other,
    1/3 for others that share a label, and 0 for sets that share none.
    Source: Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC.
    """
    sets = np.asarray(levels, dtype=np.int64)
    shared = sets[:, np.newaxis] & sets
    union = np.bitwise_count(sets[:, np.newaxis] | sets)
    similarity = np.where(union == 0, 1.0, np.bitwise_count(shared) / np.maximum(union, 1))
    if metric == "masi":
        is_included = (shared == sets) | (shared == sets[:, np.newaxis])
        monotonicity = np.where(is_included, 2 / 3, 1 / 3)
        similarity = similarity * np.where(sets[:, np.newaxis] == sets, 1.0, monotonicity)
    return np.asarray(1 - similarity)
