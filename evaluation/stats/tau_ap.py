"""AP correlation: how far two orders agree, where a mistake at the top weighs most."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, complete_pairs


def tau_ap(values: ArrayLike, truth: ArrayLike) -> Estimate:
    """tau_AP of the order by `values` against the order by `truth`, the highest value first.

    2 / (n - 1) x the sum over ranks i from 2 on of C(i) / (i - 1), less 1; C(i) is how many of those
    ranked above i by `values` also stand above it by `truth`. 1 for the same order, -1 for the
    opposite one, 0 on average for a random one. It is not symmetric. Both are one-dimensional, NaN
    = missing; a pair with a missing value is left out. Undefined for fewer than three pairs, or
    where two values of either side are equal: the measure knows no ties. Raises ValueError for
    unequal lengths or infinite values.
    Source: Yilmaz, Aslam and Robertson (2008), SIGIR, 587-594.
    """
    scores, true, missing = complete_pairs(values, truth)
    reason = _undefined(scores, true)
    n = len(scores)
    if reason:
        return Estimate(None, reason, n, missing)
    order = np.argsort(-scores)
    ranked = true[order]
    above = np.tril(ranked[np.newaxis, :] > ranked[:, np.newaxis], -1).sum(axis=1)
    value = 2 / (n - 1) * float((above[1:] / np.arange(1, n)).sum()) - 1
    return Estimate(value, None, n, missing)


def symmetric_tau_ap(a: ArrayLike, b: ArrayLike) -> Estimate:
    """The mean of tau_AP in both directions, for two orders of which neither is the truth.

    Input, undefined cases, errors and source as `tau_ap`.
    """
    forward, backward = tau_ap(a, b), tau_ap(b, a)
    if forward.value is None or backward.value is None:
        return forward
    return Estimate((forward.value + backward.value) / 2, None, forward.n, forward.missing)


def _undefined(scores: FloatArray, true: FloatArray) -> str | None:
    if len(scores) < 3:
        return f"undefined, because {len(scores)} complete pairs are fewer than three"
    if len(np.unique(scores)) < len(scores) or len(np.unique(true)) < len(true):
        return "undefined, because two values are equal, and AP correlation knows no ties"
    return None
