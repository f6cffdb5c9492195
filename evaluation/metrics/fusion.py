"""Rank fusion: several rankings of one query combined into one (RRF, CombSUM)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import Literal, TypeVar

import numpy as np

from evaluation.stats.estimate import FloatArray

Key = TypeVar("Key", bound=Hashable)
Scale = Literal["raw", "minmax"]


def sums_of_ranks(
    rankings: Sequence[Sequence[tuple[Key, float]]], k: int = 60, weights: Sequence[float] = ()
) -> dict[Key, float]:
    """Return reciprocal rank fusion scores: each text's weighted sum of 1 / (k + rank).

    Over the rankings that hold the text, with ranks from 1.

    A ranking is (text, score) from the best down. `weights` are one for each ranking, or none: each 1. Texts
    are in the order in which they were met, ranking by ranking; empty rankings add nothing.
    Source: Cormack, Clarke and Buettcher 2009.
    """
    sums: dict[Key, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights or repeat(1.0), strict=False):
        for rank, (text, _) in enumerate(ranking, 1):
            sums[text] += weight / (k + rank)
    return sums


def sums_of_scores(
    rankings: Sequence[Sequence[tuple[Key, float]]],
    weights: Sequence[float] = (),
    scale: Scale = "minmax",
) -> dict[Key, float]:
    """The sum of the scores of a text in the rankings that hold it, each with its weight.

    By "minmax" each ranking is brought to 0..1 first, by `min_max`; by "raw" its scores are taken as they
    are. A ranking that lacks a text adds 0. Rankings, weights and order as `sums_of_ranks`.
    Source: Fox and Shaw 1994 (CombSUM).
    """
    sums: dict[Key, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights or repeat(1.0), strict=False):
        is_scaled = scale == "minmax"
        scores = min_max(ranking).tolist() if is_scaled else [score for _, score in ranking]
        for (text, _), score in zip(ranking, scores, strict=True):
            sums[text] += weight * score
    return sums


def min_max(ranking: Sequence[tuple[Key, float]]) -> FloatArray:
    """Return the scores of a ranking scaled to 0 (lowest) to 1 (highest); 1 if all are equal."""
    scores = np.array([score for _, score in ranking], dtype=np.float64)
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    if not high > low:
        return np.ones(len(ranking))
    result: FloatArray = (scores - low) / (high - low)
    return result
