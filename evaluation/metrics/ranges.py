"""Upper bound of each metric of a system, at which its intervals are cut off."""

from __future__ import annotations

import math

# The ideal of alpha-nDCG is greedy, and a text may be denser than the required subset.
UNBOUNDED = ("alpha_ndcg", "density")


def highest(metric: str) -> float:
    """1, or infinity for a metric that may exceed 1. All are 0 or more."""
    return math.inf if metric in UNBOUNDED else 1.0
