"""Judge's grades against a human's: binary confusion at a threshold, and the whole matrix.

The human is the truth. The positive class is "answerable": a grade of at least eta.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, IntArray, complete_pairs, level_index


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Precision, recall and F1 of one class; each `n` is its denominator in items.

    For precision these are the items that the judge put in the class, for recall those that the
    human did, for F1 those that either did.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of items: `fp` is answerable to the judge only, `fn` to the human only.

    `n` items were rated by both, `missing` were not and are in no count.
    """

    tp: int
    fp: int
    fn: int
    tn: int
    n: int
    missing: int
    answerable: ClassScores
    unanswerable: ClassScores
    accuracy: Estimate


def confusion_at_eta(human: ArrayLike, judge: ArrayLike, eta: float) -> Confusion:
    """Confusion of answerable (grade >= eta) and unanswerable, and the scores of both classes.

    `human` and `judge` are grades of the same items, one-dimensional, NaN = missing; items without
    both grades are left out. A score whose denominator is empty is undefined, never 0. Raises
    ValueError for unequal lengths or infinite grades.
    Source: CRUX (Ju et al., 2025), Appendix A.2, where human grades validate the judge.
    """
    *_, missing = complete_pairs(human, judge)
    return confusion_from_cells(item_cells(human, judge, eta).sum(axis=0), missing)


def item_cells(human: ArrayLike, judge: ArrayLike, eta: float) -> IntArray:
    """The cell of each item as a row of 0 and 1 (tp, fp, fn, tn); sums of rows are confusions.

    Input and errors as `confusion_at_eta`. Returns items x 4; an item without both grades is a row
    of zeros.
    """
    complete_pairs(human, judge)
    truth, guess = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    rated = ~(np.isnan(truth) | np.isnan(guess))
    yes, says_yes = truth >= eta, guess >= eta
    cells = [yes & says_yes, ~yes & says_yes, yes & ~says_yes, ~yes & ~says_yes]
    return np.column_stack([cell & rated for cell in cells]).astype(np.int64)


def confusion_from_cells(cells: ArrayLike, missing: int = 0) -> Confusion:
    """The scores of both classes from summed cells (tp, fp, fn, tn).

    `missing` is passed on to the scores. All-zero cells give undefined scores. Raises ValueError
    if there are not four cells.
    """
    tp, fp, fn, tn = (int(cell) for cell in np.asarray(cells))
    n = tp + fp + fn + tn
    return Confusion(
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        n=n,
        missing=missing,
        answerable=_scores("answerable", tp, fp, fn, missing),
        unanswerable=_scores("unanswerable", tn, fn, fp, missing),
        accuracy=_ratio(tp + tn, n, n, "no item has both grades", missing),
    )


def level_matrix(human: ArrayLike, judge: ArrayLike, levels: ArrayLike) -> IntArray:
    """Count the items for each pair of the human's level (row) and the judge's (column).

    `human` and `judge` as in `confusion_at_eta`; `levels` is the whole scale, used or not. Returns
    levels x levels, all zero if no item has both grades. Raises ValueError for a grade outside
    `levels`, fewer than two or repeated levels, or unequal lengths.
    """
    truth, guess, _ = complete_pairs(human, judge)
    size = np.size(levels)
    matrix = np.zeros((size, size), dtype=np.int64)
    np.add.at(matrix, (level_index(truth, levels), level_index(guess, levels)), 1)
    return matrix


def _scores(name: str, hits: int, false: int, missed: int, missing: int) -> ClassScores:
    judged, actual, either = hits + false, hits + missed, hits + false + missed
    return ClassScores(
        precision=_ratio(hits, judged, judged, f"the judge found no item {name}", missing),
        recall=_ratio(hits, actual, actual, f"the human found no item {name}", missing),
        f1=_ratio(2 * hits, judged + actual, either, f"nobody found an item {name}", missing),
    )


def _ratio(part: int, whole: int, n: int, why_empty: str, missing: int) -> Estimate:
    if whole == 0:
        return Estimate(None, f"undefined, because {why_empty}", n, missing)
    return Estimate(part / whole, None, n, missing)
