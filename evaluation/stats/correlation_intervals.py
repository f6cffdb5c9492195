"""Correlations as functions of sums, and leave-one-topic-out, for jackknife intervals.

Pearson comes from sums per topic; Spearman and Kendall from the signs of all differences, which are
whole numbers and can be taken away again without rounding. No topic is correlated on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.clusters import leave_one_out_sums, topic_sums
from evaluation.stats.estimate import FloatArray, IntArray, complete_pairs

BLOCK = 2_000_000  # signs held at once


@dataclass(frozen=True)
class LeaveOneOutCorrelations:
    """Leave-one-out correlations: one value per topic, in sorted order; NaN = undefined.

    Spearman and Kendall are None where they were not asked for.
    """

    pearson: FloatArray
    spearman: FloatArray | None
    kendall: FloatArray | None


def leave_one_out_correlations(
    x: ArrayLike,
    y: ArrayLike,
    topics: ArrayLike,
    *,
    ranked: bool = True,
    n_topics: int | None = None,
) -> LeaveOneOutCorrelations:
    """Pearson and, if `ranked`, Spearman and Kendall's tau-b, without each topic.

    `x`, `y` and `topics` are one per text; a text with a NaN on either side is in nothing, though
    its topic is still one to leave out. With `n_topics` the topics are numbers below it, each of which is
    left out, whether a text has it or not. Undefined for fewer than three texts or a constant list, as
    `evaluation.stats.correlation`, which computes one value from the same texts. The ranked
    ones take time that grows with the square of the texts.
    Source: Spearman's rho is Pearson's r of the centred ranks, and a doubled centred rank is the
    sum of the signs of its differences; tau-b is the same product over all pairs (Kendall 1945).
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if n_topics is None:
        names, topics = np.unique(np.asarray(topics), return_inverse=True)
        n_topics = len(names)
    topic = np.asarray(topics, dtype=np.int64)
    whole = ~(np.isnan(first) | np.isnan(second))
    order = np.flatnonzero(whole)[np.argsort(topic[whole], kind="stable")]
    first, second, topic = first[order], second[order], topic[order]
    sizes = np.bincount(topic, minlength=n_topics)
    remaining = len(order) - sizes
    usable = (
        (remaining >= 3) & ~_constant(first, topic, n_topics) & ~_constant(second, topic, n_topics)
    )
    pearson = np.where(usable, _pearson(first, second, topic, n_topics, remaining), np.nan)
    if not ranked:
        return LeaveOneOutCorrelations(pearson, None, None)
    rho, tau = _by_signs(first, second, topic, sizes)
    return LeaveOneOutCorrelations(
        pearson, np.where(usable, rho, np.nan), np.where(usable, tau, np.nan)
    )


def _pearson(
    x: FloatArray, y: FloatArray, topic: IntArray, n: int, remaining: IntArray
) -> FloatArray:
    if not len(x):
        return np.full(n, np.nan)
    x, y = x - x.mean(), y - y.mean()  # so that no large numbers cancel
    sums_present = topic_sums(np.column_stack([x, y, x * x, y * y, x * y]), topic)
    sums = np.zeros((n, 5))
    sums[np.unique(topic)] = sums_present
    sx, sy, xx, yy, xy = leave_one_out_sums(sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt((xx - sx * sx / remaining) * (yy - sy * sy / remaining))
        # Rounding alone leaves the range.
        return np.clip((xy - sx * sy / remaining) / spread, -1, 1)


def _constant(values: FloatArray, topic: IntArray, n: int) -> NDArray[np.bool_]:
    """Return for each topic if the values without it are all the same (up to rounding)."""
    lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(lowest, topic, values)
    np.maximum.at(highest, topic, values)
    low = np.minimum(_before(lowest, np.minimum), _before(lowest[::-1], np.minimum)[::-1])
    high = np.maximum(_before(highest, np.maximum), _before(highest[::-1], np.maximum)[::-1])
    return np.asarray(high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high)))


def _before(values: FloatArray, keep: np.ufunc) -> FloatArray:
    """The lowest, or highest, of the values that stand before each."""
    if not len(values):
        return values
    start = np.inf if keep is np.minimum else -np.inf
    return np.concatenate([[start], keep.accumulate(values)[:-1]])


def _by_signs(
    x: FloatArray, y: FloatArray, topic: IntArray, sizes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return Spearman and Kendall, without each topic.

    Both are a product of x and y over the roots of their own products.
    """
    products = ((0, 0), (1, 1), (0, 1))
    lists, ranks = (x, y), (_centred_ranks(x), _centred_ranks(y))
    starts = np.cumsum(sizes) - sizes
    whole = np.zeros((3, 1))
    topic_products, rank_sums = np.zeros((3, len(sizes))), np.zeros((3, len(sizes)))
    for first, last in _blocks(sizes, len(x)):
        rows = slice(starts[first], starts[last - 1] + sizes[last - 1])
        signs = [_signs(values[rows], values) for values in lists]
        inside = topic[rows][:, np.newaxis] == topic
        owned = np.arange(first, last)[:, np.newaxis] == topic
        rank_parts = [
            np.where(owned, 0, rank - _over_topics(sign, topic[rows] - first, last - first))
            for rank, sign in zip(ranks, signs, strict=True)
        ]
        for index, (a, b) in enumerate(products):
            product = signs[a] * signs[b]
            whole[index] += product.sum()
            # A topic's texts with all others, in both directions, but once among themselves.
            row_products = 2 * product.sum(axis=1) - (product * inside).sum(axis=1)
            np.add.at(topic_products[index], topic[rows], row_products)
            rank_sums[index, first:last] = (rank_parts[a] * rank_parts[b]).sum(axis=1)
    return _cosine(rank_sums), _cosine(whole - topic_products)


def _centred_ranks(values: FloatArray) -> IntArray:
    """Return centred ranks, doubled: for each value how many are below less how many above."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    above = len(values) - np.searchsorted(ordered, values, side="right")
    return np.asarray(below - above, dtype=np.int64)


def _cosine(sums: FloatArray) -> FloatArray:
    x_square, y_square, product = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(product / np.sqrt(x_square * y_square))


def _signs(rows: FloatArray, values: FloatArray) -> IntArray:
    """The sign of the difference of every value to each of the rows: rows x values."""
    return np.sign(values - rows[:, np.newaxis]).astype(np.int64)


def _over_topics(signs: IntArray, topic: IntArray, n: int) -> IntArray:
    sums = np.zeros((n, signs.shape[1]), dtype=np.int64)
    np.add.at(sums, topic, signs)
    return sums


def _blocks(sizes: IntArray, n: int) -> list[tuple[int, int]]:
    """Runs of topics whose texts make at most a block of signs, and one topic at the least."""
    blocks, first, n_texts = [], 0, 0
    for topic, size in enumerate(sizes.tolist()):
        if n_texts and (n_texts + size) * n > BLOCK:
            blocks.append((first, topic))
            first, n_texts = topic, 0
        n_texts += size
    return [*blocks, (first, len(sizes))] if len(sizes) else blocks


# Below this share of the mean square, a variance from sums is mostly rounding.
ROUNDING = 1e-12


def pearson_terms(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return each pair's terms of the sums that Pearson's r is computed from: pairs x 6.

    `x` and `y` are one-dimensional and of equal length, NaN = missing; a pair with a missing value
    is a row of zeros. The terms are 1, x, y, x^2, y^2 and xy, after both lists were moved to mean
    0, which changes no correlation and keeps the digits of lists that are far from 0. Raises
    ValueError for unequal lengths or infinite values.
    Source: Pearson (1895), Proceedings of the Royal Society 58.
    """
    first, second, _ = complete_pairs(x, y)
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    rated = ~(np.isnan(a) | np.isnan(b))
    terms = np.zeros((len(a), 6))
    if len(first):
        first, second = first - first.mean(), second - second.mean()
        counts = np.ones(len(first))
        terms[rated] = np.column_stack([counts, first, second, first**2, second**2, first * second])
    return terms


def pearson_from_sums(sums: FloatArray) -> FloatArray:
    """Pearson's r of each vector of summed `pearson_terms` on the last axis; NaN if undefined.

    Undefined are sums of fewer than three pairs, or with one list constant. A pair that a resample
    holds twice counts twice. Source: as `pearson_terms`.
    """
    n, x, y, xx, yy, xy = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    spread_x, spread_y = n * xx - x**2, n * yy - y**2
    defined = (n >= 3) & (spread_x > ROUNDING * n * xx) & (spread_y > ROUNDING * n * yy)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (n * xy - x * y) / np.sqrt(spread_x * spread_y)
    return np.asarray(np.where(defined, r, np.nan))
