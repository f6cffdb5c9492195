"""Equivalence test of two systems: two one-sided tests (TOST) against a prestated margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, complete_pairs


@dataclass(frozen=True, slots=True)
class Equivalence(Estimate):
    """Mean difference with its 90% interval, which lies inside the margin exactly if p < 0.05.

    `p` is the larger one of the two tests, `p_not_worse` that of the first system being worse by the
    margin, `p_not_better` of its being better; without one, `p_reason` says why, unless the
    difference itself is undefined.
    """

    margin: float = 0.0
    p: float | None = None
    p_not_worse: float | None = None
    p_not_better: float | None = None
    p_reason: str | None = None


def equivalence(first: ArrayLike, second: ArrayLike, margin: float) -> Equivalence:
    """Test if two systems differ by less than `margin`, by values of the same topics (TOST).

    `first` and `second` have one value a topic, NaN = missing; topics without both are left out and
    counted in `missing`. The hypothesis that is tested is that they differ by the margin or more: a
    small p speaks for equivalence, a large one for nothing. Undefined without a common topic; no p
    with one topic, or where the difference is the same on all. Raises ValueError for a margin that
    is not above 0, or unequal lengths.
    Source: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15(6), 657-680;
    statsmodels ttost_paired.
    """
    from statsmodels.stats.weightstats import DescrStatsW, ttost_paired  # noqa: PLC0415 - a second

    if not (np.isfinite(margin) and margin > 0):
        raise ValueError(f"a margin is above 0, not {margin}")
    a, b, missing = complete_pairs(first, second)
    n = len(a)
    if not n:
        reason = "undefined, because no topic has a value of both"
        return Equivalence(None, reason, 0, missing, margin=margin)
    differences = a - b
    mean = float(differences.mean())
    if n < 2 or np.ptp(differences) <= 1e-12:
        reason = (
            "there is one topic alone" if n < 2 else "the difference is the same on every topic"
        )
        return Equivalence(
            mean,
            None,
            n,
            missing,
            interval_reason=f"no interval, because {reason}",
            margin=margin,
            p_reason=f"undefined, because {reason}",
        )
    low, high = DescrStatsW(differences).tconfint_mean(alpha=0.1)
    p, (_, p_not_worse, _), (_, p_not_better, _) = ttost_paired(a, b, -margin, margin)
    return Equivalence(
        *(mean, None, n, missing, float(low), float(high)),
        margin=margin,
        p=float(p),
        p_not_worse=float(p_not_worse),
        p_not_better=float(p_not_better),
    )
