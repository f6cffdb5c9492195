"""Several rankings of one query made into one, and rankings made of a rating matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from building.retrieval.bm25 import DECIMALS

Scored = list[tuple[int, float]]  # keys of texts with their scores, best first


def reciprocal_rank(
    rankings: Sequence[Scored], k: int = 60, weights: Sequence[float] = ()
) -> Scored:
    """The sum of 1 / (k + rank) over the rankings that hold a text, ranks from 1, each with its weight.

    `weights` are one for each ranking, or none: each 1. Texts of equal sums are in the order in which they
    were met, ranking by ranking. Source: Cormack, Clarke and Buettcher 2009.
    """
    sums: dict[int, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights or repeat(1.0), strict=False):
        for rank, (text, _) in enumerate(ranking, 1):
            sums[text] += weight / (k + rank)
    return sorted(sums.items(), key=lambda item: -item[1])


def sum_of_scores(rankings: Sequence[Scored], weights: Sequence[float] = ()) -> Scored:
    """The sum of the scores of a text in the rankings that hold it, each ranking brought to 0..1 by `min_max`.

    A ranking that lacks a text adds 0, as for its own last one. `weights` are one for each ranking, or none:
    each 1. Sums are rounded to 4 decimals, equal ones in the order in which they were met. Source: Fox and
    Shaw 1994 (CombSUM).
    """
    sums: dict[int, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights or repeat(1.0), strict=False):
        for (text, _), score in zip(ranking, min_max(ranking).tolist(), strict=True):
            sums[text] += weight * score
    rounded = ((text, round(score, DECIMALS)) for text, score in sums.items())
    return sorted(rounded, key=lambda item: -item[1])


def min_max(ranking: Scored) -> NDArray[np.float64]:
    """The scores of a ranking from 0, its lowest, to 1, its highest; each 1 where all are equal."""
    scores = np.array([score for _, score in ranking], dtype=np.float64)
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    if not high > low:
        return np.ones(len(ranking))
    result: NDArray[np.float64] = (scores - low) / (high - low)
    return result


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
