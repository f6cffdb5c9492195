"""What each rater did, and how far every two of them agree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation.agreement.parts import NO_RATINGS
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.data.spans import Evidence, unmarked_answers
from evaluation.stats import cohen, correlation
from evaluation.stats.clusters import binary, kappa_over_topics, share
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters on the items that both rated.

    `prevalence` is the share of "answerable" among the ratings that both gave. `spans_meet` is the
    share of the items that both call answerable, and both marked in the text, on which their
    highlights share a character; `overlap` is the mean intersection over union.
    """

    a: Column
    b: Column
    kappa: Estimate
    quadratic: Estimate
    binary: Estimate
    percent: Estimate
    prevalence: Estimate
    spearman: Correlation
    spans_meet: Estimate
    overlap: Estimate

    @property
    def names(self) -> str:
        """Both, as a URL names them."""
        return f"{self.a.name},{self.b.name}"


@dataclass(frozen=True, slots=True)
class RaterRow:
    """What one rater did. `n_unmarked` counts answers that call for a highlight and have none."""

    rater: Column
    n: int
    n_missing: int
    n_answerable: int
    prevalence: Estimate
    n_unmarked: int
    n_exact: int
    n_normalised: int
    n_unlocated: int

    @property
    def n_located(self) -> int:
        return self.n_exact + self.n_normalised


def rater_pairs(matrix: RatingMatrix, evidence: Evidence) -> tuple[tuple[Pair, ...], int]:
    """Every two raters who rated an item in common; and how many pairs of raters share none."""
    rated = ~np.isnan(matrix.grades)
    pairs = list(combinations(range(rated.shape[1]), 2))
    shared = [(a, b) for a, b in pairs if (rated[:, a] & rated[:, b]).any()]
    return tuple(_pair(matrix, evidence, a, b) for a, b in shared), len(pairs) - len(shared)


def rater_rows(matrix: RatingMatrix, evidence: Evidence) -> tuple[RaterRow, ...]:
    """What each rater did, in the order of the selection."""
    unmarked = unmarked_answers(matrix, evidence)
    rated = ~np.isnan(matrix.grades)
    yes = matrix.grades >= matrix.selection.threshold
    rows = []
    for column, rater in enumerate(matrix.selection.raters):
        tally = evidence.tally(column)
        rows.append(
            RaterRow(
                rater=rater,
                n=int(rated[:, column].sum()),
                n_missing=int((~rated[:, column]).sum()),
                n_answerable=int(yes[:, column].sum()),
                prevalence=share(yes[:, column], rated[:, column], matrix.topic, NO_RATINGS),
                n_unmarked=int(unmarked[:, column].sum()),
                n_exact=tally["exact"],
                n_normalised=tally["normalised"],
                n_unlocated=tally["unlocated"],
            )
        )
    return tuple(rows)


def _pair(matrix: RatingMatrix, evidence: Evidence, a: int, b: int) -> Pair:
    selection, topics = matrix.selection, matrix.topic
    first, second = matrix.grades[:, a], matrix.grades[:, b]
    says = [binary(side, selection.threshold) for side in (first, second)]
    both = ~(np.isnan(first) | np.isnan(second))
    meet, overlap = _meeting(matrix, evidence, a, b)
    return Pair(
        a=selection.raters[a],
        b=selection.raters[b],
        kappa=kappa_over_topics(first, second, selection.levels, topics),
        quadratic=kappa_over_topics(first, second, selection.levels, topics, "quadratic"),
        binary=kappa_over_topics(says[0], says[1], (0, 1), topics),
        percent=share(np.where(both, first == second, 0.0), both, topics, cohen.NO_PAIR),
        prevalence=share((says[0] + says[1]) / 2, both, topics, cohen.NO_PAIR),
        spearman=correlation.spearman(first, second),
        spans_meet=meet,
        overlap=overlap,
    )


def _meeting(matrix: RatingMatrix, evidence: Evidence, a: int, b: int) -> tuple[Estimate, Estimate]:
    """How often, and how far, two raters who both say answerable mark the same words."""
    both = (matrix.grades[:, [a, b]] >= matrix.selection.threshold).all(axis=1)
    iou, topics = evidence.overlap(a, b)[both], matrix.topic[both]
    why = "there is no item that both mark"
    marked = ~np.isnan(iou)
    return share(iou > 0, marked, topics, why), share(iou, marked, topics, why)
