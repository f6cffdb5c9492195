"""Discriminative power of metrics, and their agreement on the top of the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.retrieval.differences import PairTest
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.retrieval.page import tests_of
from evaluation.retrieval.query import RetrievalQuery
from evaluation.scoring.row_score import METRICS, RowScore
from evaluation.stats.estimate import Estimate
from evaluation.stats.tau_ap import tau_ap

ALPHA = 0.05
ENOUGH = 6  # topics: of five all sign flips are 32, and no p is under 2 / 32
FEW = f"undefined, because no two systems share the {ENOUGH} topics needed for p < {ALPHA}"


@dataclass(frozen=True)
class MetricPower:
    """Discriminative power: share of pairs with p under ALPHA, unadjusted and by Holm.

    `n` counts the pairs that share ENOUGH topics, `missing` the others.
    """

    metric: str
    alone: Estimate
    adjusted: Estimate


@dataclass(frozen=True)
class DiscriminativePower:
    """Power of all metrics, and tau_AP of each two, the row the truth; the diagonal is 1."""

    powers: tuple[MetricPower, ...]
    tops: tuple[tuple[str, tuple[Estimate, ...]], ...]


def discriminative_power(board: Leaderboard, choice: RetrievalQuery) -> DiscriminativePower:
    """Return the power of the metrics over the chosen systems; the tests are cached.

    Source: Sakai (2006), SIGIR, 525-532, with the sign-flip test of the other pages for his
    bootstrap; Yilmaz, Aslam and Robertson (2008), SIGIR, 587-594.
    """
    systems = board.compared(choice.among, choice.topics)
    return DiscriminativePower(
        tuple(_power(metric, tests_of(board, choice.replace(metric=metric))) for metric in METRICS),
        tuple(
            (truth, tuple(_top(systems, metric, truth) for metric in METRICS)) for truth in METRICS
        ),
    )


def _power(metric: str, tests: Sequence[PairTest]) -> MetricPower:
    usable = [test for test in tests if test.flip.p is not None and test.flip.n >= ENOUGH]
    missing = len(tests) - len(usable)
    if not usable:
        none = Estimate(None, FEW, 0, missing)
        return MetricPower(metric, none, none)
    n_single = sum((test.flip.p or 0.0) < ALPHA for test in usable)
    n_adjusted = sum(test.p_holm is not None and test.p_holm < ALPHA for test in usable)
    return MetricPower(
        metric,
        Estimate(n_single / len(usable), None, len(usable), missing),
        Estimate(n_adjusted / len(usable), None, len(usable), missing),
    )


def _top(systems: Sequence[RowScore], metric: str, truth: str) -> Estimate:
    def means(name: str) -> list[float]:
        values = (row.means[name].value for row in systems)
        # Means that are equal but for rounding are ties.
        return [np.nan if value is None else round(value, 12) for value in values]

    return tau_ap(means(metric), means(truth))
