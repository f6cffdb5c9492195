"""Gains of ranked passages, and the greedy ideal ranking, for alpha-nDCG."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.grades import BoolArray
from evaluation.stats.estimate import FloatArray, IntArray

# What a passage with the next greater name is ahead of one that gains the same. Gains are sums of
# powers of (1 - alpha), which apart from a few alphas are rounded, so that equal gains may differ in
# their last bits; this is more than that, and less than any difference that moves a value.
TIE_STEP = 2.0**-44

# Topics worked on at once: few enough for their hits to stay in the processor's cache.
BLOCK = 256


def hit_gains(hits: BoolArray, alpha: float) -> FloatArray:
    """Return the gain of each passage: the sum of (1 - alpha)^c over the questions it answers.

    c is how many passages before it answered the question; 0^0 = 1. `hits` is ... x ranks x
    questions, the result ... x ranks. Raises ValueError for an alpha outside 0 to 1.
    """
    _check(alpha)
    gains = np.empty(hits.shape[:-1])
    weights = np.ones(hits.shape[:-2] + hits.shape[-1:])
    for rank in range(hits.shape[-2]):
        hit = hits[..., rank, :]
        gains[..., rank] = np.einsum("...q,...q->...", hit, weights)
        weights *= np.where(hit, 1 - alpha, 1.0)
    return gains


def cumulative_dcg(gains: FloatArray) -> FloatArray:
    """Return the DCG of the first 0, 1, 2 ... ranks: the sum of gain / log2(rank + 1).

    `gains` is ... x ranks, the result ... x (ranks + 1), starting with 0 for no passage.
    """
    discounted = gains / np.log2(np.arange(gains.shape[-1]) + 2)
    nothing = np.zeros((*gains.shape[:-1], 1))
    return np.concatenate([nothing, np.cumsum(discounted, axis=-1)], axis=-1)


def greedy_ideal(
    hits: BoolArray, names: ArrayLike, alpha: float, depth: int
) -> tuple[IntArray, FloatArray]:
    """The ideal rankings of many topics: at each rank the passage that gains most.

    `hits` is topics x passages x questions, `names` topics x passages, different within a topic; of
    passages that gain the same (to 6e-14 for each passage of the pool) the one with the greatest
    name, by code point, comes first. Returns two arrays, topics x the smaller of `depth` and
    passages: the row of the passage at each rank and what it gains. A passage without any hit is
    not ranked: where a topic has no more passages, row and gain are -1 and 0. Raises ValueError for
    names of another shape, or an alpha outside 0 to 1.
    Source: Clarke et al. (2008), SIGIR, 659-666; the order of equals is that of ndeval.
    """
    _check(alpha)
    passage_names = np.asarray(names, dtype=np.str_)
    if passage_names.shape != hits.shape[:2]:
        raise ValueError(f"every passage has a name: {hits.shape[:2]}, not {passage_names.shape}")
    ranks = min(depth, hits.shape[1])
    order = np.full((len(hits), ranks), -1, dtype=np.int64)
    gains = np.zeros((len(hits), ranks))
    for start in range(0, len(hits), BLOCK):
        block = slice(start, start + BLOCK)
        _rank(hits[block], passage_names[block], alpha, order[block], gains[block])
    return order, gains


def _rank(
    hits: BoolArray, names: np.ndarray, alpha: float, order: IntArray, gains: FloatArray
) -> None:
    """Fill `order` and `gains` of a block of topics."""
    topics = np.arange(len(hits))
    # Topics x questions x passages: multiplied by the weights from the left, every passage's gain
    # is one product of matrices, several times as fast as summing over the last axis.
    answers = np.ascontiguousarray(hits.transpose(0, 2, 1))
    factors = answers.astype(np.float64)
    weights = np.ones((len(hits), 1, hits.shape[2]))
    ahead = np.empty(hits.shape[:2])
    by_name = np.argsort(names, axis=1, kind="stable")
    ahead[topics[:, np.newaxis], by_name] = TIE_STEP * np.arange(hits.shape[1])
    ahead[~answers.any(axis=1)] = -np.inf
    for rank in range(order.shape[1]):
        gain = np.matmul(weights, factors)[:, 0]
        best = (gain + ahead).argmax(axis=1)
        has_gain = np.isfinite(ahead[topics, best])
        order[has_gain, rank] = best[has_gain]
        gains[has_gain, rank] = gain[topics, best][has_gain]
        ahead[topics, best] = -np.inf
        weights[:, 0] *= np.where(hits[topics, best], 1 - alpha, 1.0)


def _check(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
