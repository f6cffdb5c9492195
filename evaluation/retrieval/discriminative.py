"""What the metrics tell apart: how many pairs of systems each finds different, and their orders at the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.retrieval.board import Board
from evaluation.retrieval.differences import PairTest
from evaluation.retrieval.page import tests_of
from evaluation.retrieval.params import Choice
from evaluation.scoring.row_score import METRICS, RowScore
from evaluation.stats.estimate import Estimate
from evaluation.stats.tau_ap import tau_ap

ALPHA = 0.05
ENOUGH = 6  # topics: of five all sign flips are 32, and no p is under 2 / 32
FEW = f"undefined, because no two systems share the {ENOUGH} topics that a p under {ALPHA} takes"


@dataclass(frozen=True)
class MetricPower:
    """A metric: the share of pairs of systems with p under ALPHA, each alone and by Holm together.

    `n` counts the pairs that share ENOUGH topics, `missing` the others.
    """

    metric: str
    alone: Estimate
    together: Estimate


@dataclass(frozen=True)
class TellingApart:
    """Every metric, and tau_AP of every two, the row the truth; the diagonal is 1 by definition."""

    powers: tuple[MetricPower, ...]
    tops: tuple[tuple[str, tuple[Estimate, ...]], ...]


def telling_apart(board: Board, choice: Choice) -> TellingApart:
    """The metrics by the systems of the chosen kind; the tests are kept until the data change.

    Source: Sakai (2006), SIGIR, 525-532, with the sign-flip test of the other pages for his
    bootstrap; Yilmaz, Aslam and Robertson (2008), SIGIR, 587-594.
    """
    systems = board.compared(choice.among, choice.topics)
    return TellingApart(
        tuple(
            _power(metric, tests_of(board, replace(choice, metric=metric))) for metric in METRICS
        ),
        tuple(
            (truth, tuple(_top(systems, metric, truth) for metric in METRICS)) for truth in METRICS
        ),
    )


def _power(metric: str, tests: Sequence[PairTest]) -> MetricPower:
    told = [test for test in tests if test.flip.p is not None and test.flip.n >= ENOUGH]
    missing = len(tests) - len(told)
    if not told:
        none = Estimate(None, FEW, 0, missing)
        return MetricPower(metric, none, none)
    alone = sum((test.flip.p or 0.0) < ALPHA for test in told)
    together = sum(test.p_holm is not None and test.p_holm < ALPHA for test in told)
    return MetricPower(
        metric,
        Estimate(alone / len(told), None, len(told), missing),
        Estimate(together / len(told), None, len(told), missing),
    )


def _top(systems: Sequence[RowScore], metric: str, truth: str) -> Estimate:
    def means(name: str) -> list[float]:
        values = (row.means[name].value for row in systems)
        # Means that are equal but for rounding are ties.
        return [np.nan if value is None else round(value, 12) for value in values]

    return tau_ap(means(metric), means(truth))
