"""Intra-rater agreement: grades that raters gave twice to the same pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.stats.clusters import share
from evaluation.stats.cohen import Weights
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.pair_counts import PairCounts

MIN_PAIRS = 5  # graded twice, below which an agreement says nothing
NO_PAIR = "no pair was graded twice"


@dataclass(frozen=True, slots=True)
class IntraRater:
    """Share of equal grades, and Cohen's kappa, of first and second grades of the same pairs."""

    equal: Estimate
    kappa: Estimate


def intra_rater(
    first: FloatArray,
    second: FloatArray,
    levels: Sequence[int],
    topics: IntArray,
    weights: Weights = None,
) -> IntraRater:
    """Return the agreement of raters with themselves, with intervals over topics.

    `first`, `second` and `topics` have one entry for each pair that was graded twice; pairs of
    several raters are pooled. `levels` is the whole scale. Undefined with fewer than MIN_PAIRS
    pairs, and kappa where all grades are one.
    """
    n = len(first)
    if n < MIN_PAIRS:
        few = f"fewer than {MIN_PAIRS} pairs were graded twice" if n else NO_PAIR
        undefined = Estimate(None, f"undefined, because {few}", n)
        return IntraRater(undefined, undefined)
    equal = share(first == second, np.ones(n), topics, NO_PAIR)
    return IntraRater(equal, PairCounts.of(first, second, levels, topics).kappa(weights))
