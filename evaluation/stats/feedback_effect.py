"""Effect of feedback: agreement with an expert before and after the first feedback."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.stats.clusters import leave_one_out_sums, share
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

MIN_PAIRS = 5  # of equal difficulty, before and after, below which a difference says nothing
N_BANDS = 3  # of difficulty: thirds of the share of other raters who agree with the expert
NO_PAIRS_BEFORE = "no decided pair was graded before the first feedback"
NO_PAIRS_AFTER = "no decided pair was graded after the first feedback"
NO_COMPARABLE = "no decided pair has two other raters who differ"
FEW = f"fewer than {MIN_PAIRS} pairs of equal difficulty were graded before or after the feedback"


@dataclass(frozen=True, slots=True)
class FeedbackEffect:
    """Shares of pairs with the expert's grade before and after feedback, and their difference.

    The shares are of all decided pairs; `difference`, after less before, is at equal difficulty.
    """

    share_before: Estimate
    share_after: Estimate
    difference: Estimate


def feedback_effect(
    agrees: NDArray[np.bool_],
    follows_feedback: NDArray[np.bool_],
    support: FloatArray,
    raters: IntArray,
    topics: IntArray,
) -> FeedbackEffect:
    """Return the agreement with the expert before and after the first feedback.

    One entry for each decided pair of a rater: whether the rater's grade is the expert's, whether it was
    given after the rater's first feedback, the share of the other raters with the expert's grade, the rater
    and the topic. `support` is NaN for a pair that is not comparable. The strata are a rater and a third of
    `support`, and have the weights of their pairs after the feedback:

        sum over s of n_after(s) / n_after * (share_after(s) - share_before(s))

    over the strata with pairs before and after. `n` of the difference counts their pairs, `missing` the
    others. It is undefined with fewer than MIN_PAIRS such pairs on either side. Intervals are
    delete-one-topic jackknife.
    """
    share_before = _share(agrees[~follows_feedback], topics[~follows_feedback], NO_PAIRS_BEFORE)
    share_after = _share(agrees[follows_feedback], topics[follows_feedback], NO_PAIRS_AFTER)
    return FeedbackEffect(
        share_before,
        share_after,
        _difference(agrees, follows_feedback, support, raters, topics, (share_before, share_after)),
    )


def _share(agrees: NDArray[np.bool_], topics: IntArray, why_empty: str) -> Estimate:
    return share(agrees, np.ones(len(agrees)), topics, why_empty)


def _difference(
    agrees: NDArray[np.bool_],
    follows_feedback: NDArray[np.bool_],
    support: FloatArray,
    raters: IntArray,
    topics: IntArray,
    shares: tuple[Estimate, Estimate],
) -> Estimate:
    n = len(agrees)
    if empty := next((side for side in shares if side.value is None), None):
        return Estimate(None, empty.reason, 0, n)
    comparable = ~np.isnan(support)
    if not comparable.any():
        return Estimate(None, f"undefined, because {NO_COMPARABLE}", 0, n)
    agrees, follows_feedback, topics = (
        agrees[comparable],
        follows_feedback[comparable],
        topics[comparable],
    )
    _, rater = np.unique(raters[comparable], return_inverse=True)
    _, stratum = np.unique(rater * N_BANDS + difficulty(support[comparable]), return_inverse=True)
    names, topic = np.unique(topics, return_inverse=True)
    shape = len(names), int(stratum.max()) + 1
    cell = np.ravel_multi_index((topic, stratum), shape)
    masks = (
        ~follows_feedback,
        ~follows_feedback & agrees,
        follows_feedback,
        follows_feedback & agrees,
    )
    n_cells = shape[0] * shape[1]
    counts = [np.bincount(cell[mask], minlength=n_cells).reshape(shape) for mask in masks]
    sums = np.hstack(counts).astype(np.float64)
    whole = sums.sum(axis=0, keepdims=True)
    n_before, n_after = _compared_pairs(whole)
    used = int(n_before.sum() + n_after.sum())
    if min(n_before.sum(), n_after.sum()) < MIN_PAIRS:
        return Estimate(None, f"undefined, because {FEW}", used, n - used)
    estimate = Estimate(float(_standardized(whole)[0]), None, used, n - used)
    return jackknife_interval(estimate, _standardized(leave_one_out_sums(sums))).within(-1, 1)


def difficulty(support: FloatArray) -> IntArray:
    """Return the band of each share of others who agree: 0 up to a third, 2 from two thirds."""
    return (support > 1 / 3).astype(np.int64) + (support >= 2 / 3)


def _compared_pairs(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the pairs before and after by stratum; 0 in strata that lack one side."""
    n_before, _, n_after, _ = np.split(sums, 4, axis=1)
    has_both = (n_before > 0) & (n_after > 0)
    return n_before * has_both, n_after * has_both


def _standardized(sums: FloatArray) -> FloatArray:
    """Return the difference of each row of sums; NaN where no stratum has both sides."""
    _, agreed_before, _, agreed_after = np.split(sums, 4, axis=1)
    n_before, n_after = _compared_pairs(sums)
    has_both = n_after > 0
    share_before = np.divide(
        agreed_before, n_before, out=np.zeros_like(n_before), where=n_before > 0
    )
    excess = ((agreed_after - n_after * share_before) * has_both).sum(axis=1)
    weight = n_after.sum(axis=1)
    return np.divide(excess, weight, out=np.full(len(weight), np.nan), where=weight > 0)
