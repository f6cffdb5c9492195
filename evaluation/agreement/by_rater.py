"""Counts by rater, and agreement of each pair of raters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evaluation.agreement.parts import NO_RATINGS
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.data.spans import Evidence, unmarked_answers
from evaluation.stats import cohen, correlation
from evaluation.stats.classes import Classes, class_scores
from evaluation.stats.clusters import (
    binary,
    kappa_over_topics,
    level_sums,
    mean_of_items,
    scott_over_topics,
    share,
)
from evaluation.stats.cohen import Weights
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.intraclass import Limits, limits_of_agreement


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters on the items that both rated.

    `prevalence` is the share of "answerable" among the ratings that both gave. `spans_meet` is the
    share of the items that both call answerable, and both marked in the text, on which their
    highlights share a character; `overlap` is the mean intersection over union. `matrix` counts the
    grades of `a` (rows) against those of `b`. A statistic that the rubric's levels do not allow is
    undefined.
    """

    a: Column
    b: Column
    kappa: Estimate
    scott: Estimate
    """Scott's pi: expected agreement from the pooled levels."""
    linear: Estimate
    quadratic: Estimate
    binary: Estimate
    percent: Estimate
    prevalence: Estimate
    spearman: Correlation
    spans_meet: Estimate
    overlap: Estimate
    limits: Limits | None
    """Limits of agreement, where grades are quantities."""
    matrix: IntArray
    classes: Classes | None
    """The scores of `b` with `a` as the truth, where grades are names."""

    @property
    def names(self) -> str:
        """Both raters, as a URL names them."""
        return f"{self.a.name},{self.b.name}"


@dataclass(frozen=True, slots=True)
class RaterRow:
    """Counts of one rater. `n_unmarked`: answers that need a highlight and have none."""

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
    """Return the pairs of raters with a common item, and the number of pairs without one."""
    rated = ~np.isnan(matrix.grades)
    pairs = list(combinations(range(rated.shape[1]), 2))
    shared = [(a, b) for a, b in pairs if (rated[:, a] & rated[:, b]).any()]
    return tuple(_pair(matrix, evidence, a, b) for a, b in shared), len(pairs) - len(shared)


def rater_rows(matrix: RatingMatrix, evidence: Evidence) -> tuple[RaterRow, ...]:
    """Return the counts of each rater, in the order of the selection."""
    unmarked = unmarked_answers(matrix, evidence)
    rated = ~np.isnan(matrix.grades)
    yes = matrix.grades >= matrix.selection.threshold
    measures = matrix.selection.measures
    rows = []
    for column, rater in enumerate(matrix.selection.raters):
        tally = evidence.tally(column)
        rows.append(
            RaterRow(
                rater=rater,
                n=int(rated[:, column].sum()),
                n_missing=int((~rated[:, column]).sum()),
                n_answerable=int(yes[:, column].sum()),
                prevalence=share(yes[:, column], rated[:, column], matrix.topic, NO_RATINGS)
                if "prevalence" in measures
                else measures.none("prevalence"),
                n_unmarked=int(unmarked[:, column].sum()),
                n_exact=tally["exact"],
                n_normalised=tally["normalised"],
                n_unlocated=tally["unlocated"],
            )
        )
    return tuple(rows)


def _pair(matrix: RatingMatrix, evidence: Evidence, a: int, b: int) -> Pair:
    selection, topics = matrix.selection, matrix.topic
    measures, levels = selection.measures, matrix.levels
    first, second = matrix.grades[:, a], matrix.grades[:, b]
    answerable = [binary(side, selection.threshold) for side in (first, second)]
    both = ~(np.isnan(first) | np.isnan(second))
    sums = level_sums(first, second, (levels, levels), topics)

    def kappa(weights: Weights = None) -> Estimate:
        return kappa_over_topics(first, second, levels, topics, weights)

    # Computed if the rubric allows the measure; otherwise undefined, with the reason.
    functions: dict[str, Callable[[], Estimate]] = {
        "cohen_linear": lambda: kappa("linear"),
        "cohen_quadratic": lambda: kappa("quadratic"),
        "cohen_binary": lambda: kappa_over_topics(answerable[0], answerable[1], (0, 1), topics),
        "prevalence": lambda: share(
            (answerable[0] + answerable[1]) / 2, both, topics, cohen.NO_PAIR
        ),
    }
    values = {
        name: compute() if name in measures else measures.none(name)
        for name, compute in functions.items()
    }
    meet, overlap = _span_overlap(matrix, evidence, a, b)
    return Pair(
        a=selection.raters[a],
        b=selection.raters[b],
        kappa=kappa(),
        scott=scott_over_topics(first, second, levels, topics),
        linear=values["cohen_linear"],
        quadratic=values["cohen_quadratic"],
        binary=values["cohen_binary"],
        percent=share(np.where(both, first == second, 0.0), both, topics, cohen.NO_PAIR),
        prevalence=values["prevalence"],
        spearman=correlation.spearman(first, second)
        if "spearman" in measures
        else measures.none("spearman"),
        spans_meet=meet,
        overlap=overlap,
        limits=_limits(matrix, first, second) if "bias" in measures else None,
        matrix=sums.sum(axis=0),
        classes=class_scores(sums, levels, int((~both).sum())) if "classes" in measures else None,
    )


def _limits(matrix: RatingMatrix, first: FloatArray, second: FloatArray) -> Limits:
    """Return Bland-Altman limits of agreement; the bias has its interval over topics."""
    differences = first - second
    levels = matrix.selection.levels
    reach = levels[-1] - levels[0]
    bias = mean_of_items(differences, ~np.isnan(differences), matrix.topic, cohen.NO_PAIR).within(
        -reach, reach
    )
    return replace(limits_of_agreement(first, second), bias=bias)


def _span_overlap(
    matrix: RatingMatrix, evidence: Evidence, a: int, b: int
) -> tuple[Estimate, Estimate]:
    """Return how often and how far the highlights of two raters overlap.

    Over the items that both call answerable.
    """
    measures = matrix.selection.measures
    if "spans_meet" not in measures or "answerable" not in measures:
        none = measures.none("spans_meet" if "spans_meet" not in measures else "answerable")
        return none, none
    both = (matrix.grades[:, [a, b]] >= matrix.selection.threshold).all(axis=1)
    iou, topics = evidence.overlap(a, b)[both], matrix.topic[both]
    reason = "there is no item that both mark"
    marked = ~np.isnan(iou)
    return share(iou > 0, marked, topics, reason), share(iou, marked, topics, reason)
