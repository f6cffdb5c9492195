"""Scores of a judge against people at one threshold (eta), and at all of them.

The people are the truth. All scores are functions of one matrix a topic, levels of the people x
levels of the judge, so a threshold is a cut through sums that were added up once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.stats.clusters import leave_one_out_sums, ratio
from evaluation.stats.cohen import NO_PAIR, kappa_from_matrix
from evaluation.stats.confusion import Confusion, confusion_from_cells
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

ONE_CATEGORY = "undefined, because all ratings are in one category"


@dataclass(frozen=True)
class AtEta:
    """Scores of the judge at one eta against the raters; the positive class is "answerable".

    `confusion` counts ratings; precision, recall and F1 are of both classes. `prevalence` is the
    share that the raters call answerable, `judge_prevalence` the judge's, of the ratings that
    both have. Undefined where a denominator is empty. Intervals: jackknife over topics. Without an
    eta there is no confusion, and all is undefined.
    """

    eta: int | None
    confusion: Confusion | None
    precision_answerable: Estimate
    recall_answerable: Estimate
    f1_answerable: Estimate
    precision_unanswerable: Estimate
    recall_unanswerable: Estimate
    f1_unanswerable: Estimate
    accuracy: Estimate
    cohen_binary: Estimate
    prevalence: Estimate
    judge_prevalence: Estimate


@dataclass(frozen=True)
class Scale:
    """Levels of one side, and the threshold from which on a pair is answerable.

    A rubric of two levels has a threshold of its own, whatever eta is; `fixed` is that one.
    """

    levels: tuple[int, ...]
    fixed: int | None = None

    def answerable(self, eta: int) -> NDArray[np.bool_]:
        """Return a mask of the levels that are answerable at eta."""
        return np.array(self.levels) >= (eta if self.fixed is None else self.fixed)


def at_eta(sums: IntArray, people: Scale, judge: Scale, eta: int, missing: int) -> AtEta:
    """Return the scores at one eta from sums by topic.

    `sums`: topics x levels of the people x levels of the judge. `missing` ratings have no grade by the
    judge and are in no sum.
    """
    rows, columns = people.answerable(eta), judge.answerable(eta)
    yes, no = sums[:, rows].sum(axis=1), sums[:, ~rows].sum(axis=1)
    cells = np.stack(
        [part[:, side].sum(axis=1) for side in (columns, ~columns) for part in (yes, no)], axis=1
    )
    whole = confusion_from_cells(cells.sum(axis=0), missing)
    tp, fp, fn, tn = leave_one_out_sums(cells).T
    n = tp + fp + fn + tn

    def over_topics(estimate: Estimate, part: FloatArray, of: FloatArray) -> Estimate:
        return jackknife_interval(estimate, ratio(part, of)).within(0, 1)

    def share(part: int) -> Estimate:
        if not whole.n:
            return Estimate(None, NO_PAIR, 0, missing)
        return Estimate(part / whole.n, None, whole.n, missing)

    positive, negative = whole.answerable, whole.unanswerable
    return AtEta(
        eta=eta,
        confusion=whole,
        precision_answerable=over_topics(positive.precision, tp, tp + fp),
        recall_answerable=over_topics(positive.recall, tp, tp + fn),
        f1_answerable=over_topics(positive.f1, 2 * tp, 2 * tp + fp + fn),
        precision_unanswerable=over_topics(negative.precision, tn, tn + fn),
        recall_unanswerable=over_topics(negative.recall, tn, tn + fp),
        f1_unanswerable=over_topics(negative.f1, 2 * tn, 2 * tn + fp + fn),
        accuracy=over_topics(whole.accuracy, tp + tn, n),
        cohen_binary=_kappa(cells, missing),
        prevalence=over_topics(share(whole.tp + whole.fn), tp + fn, n),
        judge_prevalence=over_topics(share(whole.tp + whole.fp), tp + fp, n),
    )


def sweep(
    sums: IntArray, people: Scale, judge: Scale, etas: Sequence[int], missing: int
) -> tuple[AtEta, ...]:
    """Return the scores at each eta; empty where both sides have a threshold of their own."""
    if not has_sweep(people, judge, etas):
        return ()
    return tuple(at_eta(sums, people, judge, eta, missing) for eta in etas)


def has_sweep(people: Scale, judge: Scale, etas: Sequence[int]) -> bool:
    """Return whether scores depend on eta."""
    return bool(etas) and (people.fixed is None or judge.fixed is None)


def _kappa(cells: IntArray, missing: int) -> Estimate:
    """Return Cohen's kappa of two by two cells (tp, fp, fn, tn), topics x 4."""

    def of(rows: FloatArray) -> FloatArray:
        # unanswerable first; people are rows, the judge columns
        return kappa_from_matrix(rows[..., [3, 1, 2, 0]].reshape(*rows.shape[:-1], 2, 2), (0, 1))

    total = cells.sum(axis=0)
    n, value = int(total.sum()), float(of(total))
    whole = Estimate(value, None, n, missing) if not np.isnan(value) else None
    reason = ONE_CATEGORY if n else NO_PAIR
    kappa = whole or Estimate(None, reason, n, missing)
    return jackknife_interval(kappa, of(leave_one_out_sums(cells))).within(-1, 1)
