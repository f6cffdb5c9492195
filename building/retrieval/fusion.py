"""Rank fusion, and rankings from a rating matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from building.retrieval.bm25 import DECIMALS
from evaluation.metrics.fusion import Scale, sums_of_ranks, sums_of_scores

Scored = list[tuple[int, float]]  # keys of texts with their scores, best first


def reciprocal_rank(
    rankings: Sequence[Scored], k: int = 60, weights: Sequence[float] = ()
) -> Scored:
    """Fuse rankings by `sums_of_ranks`; ties in order of appearance."""
    return sorted(sums_of_ranks(rankings, k, weights).items(), key=lambda item: -item[1])


def sum_of_scores(
    rankings: Sequence[Scored], weights: Sequence[float] = (), scale: Scale = "minmax"
) -> Scored:
    """Fuse rankings by `sums_of_scores`, to 4 decimals; ties in order of appearance."""
    sums = sums_of_scores(rankings, weights, scale)
    rounded = ((text, round(score, DECIMALS)) for text, score in sums.items())
    return sorted(rounded, key=lambda item: -item[1])


def by_sum(texts: Sequence[int], grades: NDArray[np.float64]) -> Scored:
    """Rank texts by the sum of their grades over the questions; ties keep their order.

    `grades` are texts x questions, NaN = unrated, which adds nothing. Source: LANCER's oracle.
    """
    sums = np.nansum(grades, axis=1).tolist()
    return sorted(zip(texts, sums, strict=True), key=lambda item: -item[1])


def by_coverage(texts: Sequence[int], grades: NDArray[np.float64], eta: float) -> Scored:
    """Rank texts greedily by newly answered questions; the others follow.

    A grade of at least eta answers, an unrated one does not. Of equal texts the one that came
    earlier is taken. The score counts down from the number of texts, as gains would not fall.
    """
    answers = grades >= eta
    remaining = list(range(len(texts)))
    is_open = np.ones(grades.shape[1], dtype=bool)
    order: list[int] = []
    while remaining:
        gains = answers[remaining][:, is_open].sum(axis=1)
        if not gains.size or gains.max() == 0:
            break
        chosen = remaining.pop(int(gains.argmax()))
        is_open &= ~answers[chosen]
        order.append(chosen)
    return [
        (texts[index], round(float(len(texts) - rank), DECIMALS))
        for rank, index in enumerate([*order, *remaining])
    ]
