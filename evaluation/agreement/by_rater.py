"""Counts by rater, and agreement of each pair of raters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evaluation.agreement.parts import NO_RATINGS
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.data.spans import Evidence, unmarked_answers
from evaluation.stats.classes import Classes
from evaluation.stats.clusters import means_of_counts, share
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import Estimate, IntArray
from evaluation.stats.intraclass import Limits
from evaluation.stats.pair_counts import PairCounts


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
    columns = matrix.level_columns
    common = columns.common_items()
    n_raters = len(common)
    pairs: list[Pair] = []
    for a in range(n_raters):
        later_raters = [b for b in range(a + 1, n_raters) if common[a, b]]
        counts = zip(later_raters, columns.pairs(a, later_raters), strict=True)
        pairs += [_pair(matrix, evidence, of_both, a, b) for b, of_both in counts]
    return tuple(pairs), math.comb(n_raters, 2) - len(pairs)


def rater_rows(matrix: RatingMatrix, evidence: Evidence) -> tuple[RaterRow, ...]:
    """Return the counts of each rater, in the order of the selection."""
    unmarked = unmarked_answers(matrix, evidence)
    is_answerable = np.array(matrix.levels) >= matrix.selection.threshold
    measures = matrix.selection.measures
    rows = []
    for column, rater in enumerate(matrix.selection.raters):
        tally, by_topic = evidence.tally(column), matrix.level_columns.by_topic(column)
        n = int(by_topic.sum())
        prevalence = means_of_counts(by_topic, [is_answerable], NO_RATINGS)[0].within(0, 1)
        rows.append(
            RaterRow(
                rater=rater,
                n=n,
                n_missing=matrix.n_items - n,
                n_answerable=int(by_topic[:, is_answerable].sum()),
                prevalence=replace(prevalence, missing=matrix.n_items - n)
                if "prevalence" in measures
                else measures.none("prevalence"),
                n_unmarked=int(unmarked[:, column].sum()),
                n_exact=tally["exact"],
                n_normalised=tally["normalised"],
                n_unlocated=tally["unlocated"],
            )
        )
    return tuple(rows)


def _pair(matrix: RatingMatrix, evidence: Evidence, counts: PairCounts, a: int, b: int) -> Pair:
    selection = matrix.selection
    measures, threshold = selection.measures, selection.threshold

    # Computed if the rubric allows the measure; otherwise undefined, with the reason.
    functions: dict[str, Callable[[], Estimate]] = {
        "cohen_linear": lambda: counts.kappa("linear"),
        "cohen_quadratic": lambda: counts.kappa("quadratic"),
        "cohen_binary": lambda: counts.binary(threshold).kappa(),
        "prevalence": lambda: counts.share_from(threshold),
    }
    values = {
        name: compute() if name in measures else measures.none(name)
        for name, compute in functions.items()
    }
    meet, overlap = _span_overlap(matrix, evidence, counts, a, b)
    return Pair(
        a=selection.raters[a],
        b=selection.raters[b],
        kappa=counts.kappa(),
        scott=counts.scott(),
        linear=values["cohen_linear"],
        quadratic=values["cohen_quadratic"],
        binary=values["cohen_binary"],
        percent=counts.percent(),
        prevalence=values["prevalence"],
        spearman=counts.spearman() if "spearman" in measures else measures.none("spearman"),
        spans_meet=meet,
        overlap=overlap,
        limits=counts.limits() if "bias" in measures else None,
        matrix=counts.matrix,
        classes=counts.classes() if "classes" in measures else None,
    )


def _span_overlap(
    matrix: RatingMatrix, evidence: Evidence, counts: PairCounts, a: int, b: int
) -> tuple[Estimate, Estimate]:
    """Return how often and how far the highlights of two raters overlap.

    Over the items that both call answerable.
    """
    measures = matrix.selection.measures
    if "spans_meet" not in measures or "answerable" not in measures:
        none = measures.none("spans_meet" if "spans_meet" not in measures else "answerable")
        return none, none
    reason = "undefined, because there is no item that both mark"
    if not evidence.have_marks(a, b):
        n_answerable = int(counts.binary(matrix.selection.threshold).matrix[1, 1])
        unmarked = Estimate(None, reason, 0, n_answerable)
        return unmarked, unmarked
    both = (matrix.grades[:, [a, b]] >= matrix.selection.threshold).all(axis=1)
    iou, topics = evidence.overlap(a, b)[both], matrix.topic[both]
    marked = ~np.isnan(iou)
    return share(iou > 0, marked, topics, reason), share(iou, marked, topics, reason)
