"""Recall, precision, average precision, reciprocal rank and nDCG, as in trec_eval.

A ranked passage without a judgement is taken for irrelevant, as trec_eval does, and counted in
`missing`. trec_eval prints 0 for a topic without relevant passages; here it is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.greedy_ideal import cumulative_dcg
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

NO_RELEVANT = "undefined, because there are no relevant passages"


def recall(relevance: ArrayLike, n_relevant: int, k: int) -> Estimate:
    """The share of all relevant passages that are among the first k of the ranking (recall_k).

    `relevance` has 1 for a relevant and 0 for an irrelevant passage, in the order of the ranking,
    NaN = not judged; `n_relevant` counts the relevant passages of the topic, ranked or not. `n` =
    `n_relevant`. Empty ranking: 0. No relevant passage: undefined. Raises ValueError for other
    values, more relevant passages in the ranking than there are, or a k below 0.
    Source: trec_eval, measure recall.
    """
    relevant, missing = _relevant(relevance, n_relevant, k)
    if n_relevant == 0:
        return Estimate(None, NO_RELEVANT, 0, missing)
    return Estimate(float(relevant.sum()) / n_relevant, None, n_relevant, missing)


def average_precision(relevance: ArrayLike, n_relevant: int, k: int) -> Estimate:
    """Return average precision up to rank k (map_cut_k).

    This is the mean, over all relevant passages, of the precision at their ranks.

    Ranks up to k count.

    A relevant passage below rank k or outside the ranking counts with a precision of 0. Arguments,
    `n`, empty and undefined cases and errors as `recall`.
    Source: trec_eval, measure map_cut; its mean over topics is MAP.
    """
    relevant, missing = _relevant(relevance, n_relevant, k)
    if n_relevant == 0:
        return Estimate(None, NO_RELEVANT, 0, missing)
    precision = np.cumsum(relevant) / np.arange(1, len(relevant) + 1)
    return Estimate(float(precision[relevant].sum()) / n_relevant, None, n_relevant, missing)


def precision(relevance: ArrayLike, n_relevant: int, k: int) -> Estimate:
    """The relevant passages among the first k of the ranking, over k (P_k).

    A ranking shorter than k counts as if irrelevant passages followed. Arguments, `n`, undefined cases and
    errors as `recall`; ValueError for a k of 0, too.
    Source: trec_eval, measure P.
    """
    relevant, missing = _relevant(relevance, n_relevant, k)
    if k < 1:
        raise ValueError("a precision is of one passage or more")
    if n_relevant == 0:
        return Estimate(None, NO_RELEVANT, 0, missing)
    return Estimate(float(relevant.sum()) / k, None, n_relevant, missing)


def reciprocal_rank(relevance: ArrayLike, n_relevant: int) -> Estimate:
    """Return the reciprocal rank (recip_rank) of the first relevant passage, 0 if none.

    Arguments, `n`, undefined cases and errors as `recall`.
    Source: trec_eval, measure recip_rank; its mean over topics is MRR.
    """
    relevant, missing = _relevant(relevance, n_relevant, len(np.asarray(relevance)))
    if n_relevant == 0:
        return Estimate(None, NO_RELEVANT, 0, missing)
    first = np.flatnonzero(relevant)[:1]
    return Estimate(float(1 / (first[0] + 1)) if len(first) else 0.0, None, n_relevant, missing)


def ndcg(gains: ArrayLike, all_gains: ArrayLike, k: int) -> Estimate:
    """The DCG of the first k passages over that of the best k passages there are (ndcg_cut_k).

    `gains` are the grades of relevance in the order of the ranking, NaN = not judged; `all_gains`
    those of all judged passages of the topic, in any order. Gains are linear (the grade itself),
    divided by log2(rank + 1). `n` = passages with a gain above 0. Empty ranking: 0. No such passage:
    undefined. Raises ValueError for a negative or infinite gain, a missing one in `all_gains`, or a
    k below 0.
    Source: Järvelin and Kekäläinen (2002), TOIS 20(4), 422-446; trec_eval, measure ndcg_cut.
    """
    ranked, missing = _ranked(gains, k)
    best = np.asarray(all_gains, dtype=np.float64)
    if best.ndim != 1 or not (np.isfinite(best) & (best >= 0)).all() or (ranked < 0).any():
        raise ValueError("gains are lists of finite numbers from 0")
    n = int((best > 0).sum())
    if n == 0:
        return Estimate(None, NO_RELEVANT, 0, missing)
    # Against no passage at all an empty ranking would be 0/0; against the best one it is 0.
    ideal = np.sort(best)[::-1][: max(k, 1)]
    return Estimate(float(cumulative_dcg(ranked)[-1] / cumulative_dcg(ideal)[-1]), None, n, missing)


@dataclass(frozen=True, slots=True)
class RankingMany:
    """Recall, average precision and nDCG of many rankings, an array each; NaN where undefined."""

    recall: FloatArray
    average_precision: FloatArray
    ndcg: FloatArray
    missing: IntArray
    """The passages up to k that are not judged."""


def ranking_many(
    relevance: FloatArray, sizes: IntArray, n_relevant: IntArray, k: IntArray
) -> RankingMany:
    """Return recall, average precision and nDCG of many rankings, vectorised.

    `relevance` is rankings x ranks, 1, 0 or NaN as in `recall`, and the gains of nDCG, as whose
    best all relevant passages gain 1; what lies beyond the `sizes` of the rankings does not count.
    `n_relevant` and `k` are of each ranking. Values, undefined cases and `missing` equal those of the
    three.
    """
    ranks = np.arange(relevance.shape[1])
    counted = ranks < np.minimum(sizes, k)[:, np.newaxis]
    missing = (np.isnan(relevance) & counted).sum(axis=1)
    relevant = (relevance == 1) & counted
    precision = np.cumsum(relevant, axis=1) / (ranks + 1)
    best = cumulative_dcg(np.ones(n_relevant.max(initial=0)))
    ideal = best[np.minimum(np.maximum(k, 1), n_relevant)]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = RankingMany(
            recall=relevant.sum(axis=1) / n_relevant,
            average_precision=np.where(relevant, precision, 0.0).sum(axis=1) / n_relevant,
            ndcg=cumulative_dcg(relevant.astype(np.float64))[:, -1] / ideal,
            missing=missing,
        )
    for measure in (values.recall, values.average_precision, values.ndcg):
        measure[n_relevant == 0] = np.nan
    return values


def _relevant(relevance: ArrayLike, n_relevant: int, k: int) -> tuple[np.ndarray, int]:
    judgements = np.asarray(relevance, dtype=np.float64)
    ranked, missing = _ranked(relevance, k)
    if not (np.isnan(judgements) | (judgements == 0) | (judgements == 1)).all():
        raise ValueError("a passage is relevant (1), irrelevant (0) or not judged (NaN)")
    if (judgements == 1).sum() > n_relevant:
        raise ValueError(f"the ranking has more than the {n_relevant} relevant passages there are")
    return ranked == 1, missing


def _ranked(values: ArrayLike, k: int) -> tuple[FloatArray, int]:
    """The first k values with 0 for those that are not judged, and how many these are."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or np.isinf(numbers).any():
        raise ValueError("a ranking is a list of finite numbers, NaN where not judged")
    if k < 0:
        raise ValueError(f"a cut-off is a whole number of passages from 0, not {k}")
    judged = ~np.isnan(numbers[:k])
    return np.where(judged, numbers[:k], 0.0), int((~judged).sum())
