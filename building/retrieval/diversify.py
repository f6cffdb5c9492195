"""Diversification of a ranking: MMR and xQuAD.

Both take one text after another, each time the one of the highest value; values are rounded to 4 decimals,
and of equal ones the text that came earlier is taken. Scores count down from the number of texts, as values
at different moments are not comparable. Relevance is the ranking's scores brought to 0..1 (`min_max`): those of
BM25 go to 40 and cosines from -1 to 1, so that as they are a lambda would mean another thing after each step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from building.retrieval.bm25 import DECIMALS
from building.retrieval.fusion import Scored
from building.retrieval.vectors import unit
from evaluation.metrics.fusion import min_max

Floats = NDArray[np.float64]


def mmr(ranking: Scored, vectors: NDArray[np.floating], weight: float) -> Scored:
    """Rerank by maximal marginal relevance.

    Takes, of the texts left, the one with the highest

        weight * relevance - (1 - weight) * (largest cosine with a text that was taken)

    `vectors` are texts x dimensions in the order of the ranking, of any length; a text whose vector is all
    zero is like no other. Nothing is taken yet: the second part is 0. `weight` is lambda, from 0 (novelty
    alone) to 1 (the order as it was). Source: Carbonell and Goldstein 1998.
    """
    relevance = weight * min_max(ranking)
    directions = unit(vectors)
    nearest = np.full(len(ranking), -np.inf)

    def values(last: int | None) -> Floats:
        if last is None:
            return relevance
        np.maximum(nearest, directions @ directions[last], out=nearest)
        return relevance - (1 - weight) * nearest

    return _greedily(ranking, values)


def xquad(ranking: Scored, of_questions: Sequence[Scored], weight: float) -> Scored:
    """Rerank by xQuAD, with the sub-questions of a topic as its aspects.

    Takes, of the texts left, the one with the highest

        (1 - weight) * p(text | topic) + weight * mean over questions of
            p(text | question) * product over the texts that were taken of (1 - p(taken | question))

    p(text | topic) is the relevance. `of_questions` are rankings for each question, and p(text | question)
    is the text's score there as a share of the best score of any text of `ranking`: 0 for one that the
    question's ranking lacks. (Min-max would make the weakest of a question's texts as good as none; shares of
    the sum would be so small that nothing is ever answered.) All questions are equally likely. `weight` is
    lambda, from 0 (the order as it was) to 1 (the questions alone): in the source it weighs what MMR's does
    not. Without questions the order stays. Source: Santos, Macdonald and Ounis 2010.
    """
    relevance = (1 - weight) * min_max(ranking)
    answers = np.zeros((len(ranking), len(of_questions)))
    for column, question_ranking in enumerate(of_questions):
        scores = dict(question_ranking)
        answers[:, column] = [max(0.0, scores.get(text, 0.0)) for text, _ in ranking]
    best = answers.max(axis=0, initial=0.0)
    answers /= np.where(best > 0, best, 1.0)
    unanswered = np.full(len(of_questions), 1 / max(1, len(of_questions)))

    def values(last: int | None) -> Floats:
        nonlocal unanswered
        if last is not None:
            unanswered = unanswered * (1 - answers[last])
        gains: Floats = relevance + weight * (answers @ unanswered)
        return gains

    return _greedily(ranking, values)


def _greedily(ranking: Scored, values: Callable[[int | None], Floats]) -> Scored:
    """Order texts greedily by value; `values` gets the row that was taken last."""
    remaining = np.ones(len(ranking), dtype=bool)
    last = None
    order: list[tuple[int, float]] = []
    for n_left in range(len(ranking), 0, -1):
        current = np.where(remaining, values(last).round(DECIMALS), -np.inf)
        last = int(current.argmax())
        remaining[last] = False
        order.append((ranking[last][0], float(n_left)))
    return order
