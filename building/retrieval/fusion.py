"""Several rankings of one query made into one, and rankings made of a rating matrix."""

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
    """Texts by `sums_of_ranks`; those of equal sums are in the order in which they were met."""
    return sorted(sums_of_ranks(rankings, k, weights).items(), key=lambda item: -item[1])


def sum_of_scores(
    rankings: Sequence[Scored], weights: Sequence[float] = (), scale: Scale = "minmax"
) -> Scored:
    """Texts by `sums_of_scores`, rounded to 4 decimals; equal ones in the order in which they were met."""
    sums = sums_of_scores(rankings, weights, scale)
    rounded = ((text, round(score, DECIMALS)) for text, score in sums.items())
    return sorted(rounded, key=lambda item: -item[1])


def by_sum(texts: Sequence[int], grades: NDArray[np.float64]) -> Scored:
    """Texts by the sum of their grades over the questions; equal sums keep their order.

    `grades` are texts x questions, NaN = unrated, which adds nothing. Source: LANCER's oracle.
    """
    sums = np.nansum(grades, axis=1).tolist()
    return sorted(zip(texts, sums, strict=True), key=lambda item: -item[1])


def by_coverage(texts: Sequence[int], grades: NDArray[np.float64], eta: float) -> Scored:
    """Greedily the text that answers most questions that none before it does; then the others.

    A grade of at least eta answers, an unrated one does not. Of equal texts the one that came
    earlier is taken. The score counts down from the number of texts, as gains would not fall.
    """
    answers = grades >= eta
    left = list(range(len(texts)))
    is_open = np.ones(grades.shape[1], dtype=bool)
    order: list[int] = []
    while left:
        gains = answers[left][:, is_open].sum(axis=1)
        if not gains.size or gains.max() == 0:
            break
        chosen = left.pop(int(gains.argmax()))
        is_open &= ~answers[chosen]
        order.append(chosen)
    return [
        (texts[place], round(float(len(texts) - rank), DECIMALS))
        for rank, place in enumerate([*order, *left])
    ]
