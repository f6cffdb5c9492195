"""Confusion matrix of two sides over named levels, with precision, recall and F1 by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.clusters import leave_one_out_sums
from evaluation.stats.cohen import NO_PAIR
from evaluation.stats.confusion import ClassScores
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

UNUSED = {
    "precision": "undefined, because that side never gave this level",
    "recall": "undefined, because that side never gave this level",
    "f1": "undefined, because neither side gave this level",
}


@dataclass(frozen=True)
class Classes:
    """Confusion matrix by level: rows are the side taken for the truth, columns the other.

    `scores` has precision, recall and F1 of each level, `macro` their means over the levels for which
    they are defined: `n` counts these levels and `missing` the others. `accuracy` is the share of
    items on the diagonal. Intervals: jackknife over topics.
    """

    levels: tuple[int, ...]
    matrix: IntArray
    scores: tuple[ClassScores, ...]
    macro: ClassScores
    accuracy: Estimate

    @property
    def by_level(self) -> list[tuple[int, ClassScores]]:
        """Each level with its scores."""
        return list(zip(self.levels, self.scores, strict=True))

    @property
    def turned(self) -> Classes:
        """The same with the other side for the truth: precision and recall change places."""

        def turn(scores: ClassScores) -> ClassScores:
            return ClassScores(scores.recall, scores.precision, scores.f1)

        return Classes(
            self.levels,
            self.matrix.T,
            tuple(map(turn, self.scores)),
            turn(self.macro),
            self.accuracy,
        )


def class_scores(sums: ArrayLike, levels: Sequence[int], missing: int = 0) -> Classes:
    """The scores of every level from confusions by topic: topics x levels (truth) x levels.

    `missing` items have no grade of one side, and are in no sum. A level that a denominator lacks is
    undefined, never 0, and left out of the macro mean (scikit-learn counts it 0). Raises ValueError
    for sums that do not fit the levels.
    Source: van Rijsbergen (1979), Information Retrieval, chapter 7; macro averages: Sokolova and
    Lapalme (2009), Information Processing & Management 45(4), 427-437.
    """
    by_topic = np.asarray(sums, dtype=np.int64)
    size = len(levels)
    if by_topic.ndim != 3 or by_topic.shape[1:] != (size, size):
        raise ValueError(f"confusions are topics x {size} x {size}, not {by_topic.shape}")
    matrix = by_topic.sum(axis=0)
    parts, wholes = _parts(matrix)
    # What the same are without each topic.
    deleted, deleted_wholes = _parts(leave_one_out_sums(by_topic))
    n = int(matrix.sum())

    def score(name: str, level: int) -> Estimate:
        part, whole = float(parts[name][level]), int(wholes[name][level])
        # F1 counts an item on which both sides gave the level twice; n counts items.
        items = whole - int(matrix[level, level]) if name == "f1" else whole
        if not whole:
            return Estimate(None, UNUSED[name], 0, missing)
        estimate = Estimate(part / whole, None, items, missing)
        leave_one_out = _ratio(deleted[name][:, level], deleted_wholes[name][:, level])
        return jackknife_interval(estimate, leave_one_out).within(0, 1)

    def macro(name: str) -> Estimate:
        values = _ratio(parts[name], wholes[name])
        leave_one_out = _ratio(deleted[name], deleted_wholes[name])
        used = ~np.isnan(values)
        if not used.any():
            return Estimate(None, NO_PAIR, 0, size)
        estimate = Estimate(float(values[used].mean()), None, int(used.sum()), int((~used).sum()))
        return jackknife_interval(estimate, leave_one_out[:, used].mean(axis=1)).within(0, 1)

    def accuracy() -> Estimate:
        if not n:
            return Estimate(None, NO_PAIR, 0, missing)
        leave_one_out = leave_one_out_sums(by_topic)
        hits = np.trace(leave_one_out, axis1=1, axis2=2)
        shares = _ratio(hits, leave_one_out.sum(axis=(1, 2)))
        estimate = Estimate(float(np.trace(matrix) / n), None, n, missing)
        return jackknife_interval(estimate, shares).within(0, 1)

    names = ("precision", "recall", "f1")
    return Classes(
        levels=tuple(levels),
        matrix=matrix,
        scores=tuple(ClassScores(*(score(name, at) for name in names)) for at in range(size)),
        macro=ClassScores(*(macro(name) for name in names)),
        accuracy=accuracy(),
    )


def _parts(matrix: ArrayLike) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Return numerators and denominators for each level on the last axis.

    `matrix` may be a stack of confusions.
    """
    cells = np.asarray(matrix, dtype=np.float64)
    hits = np.diagonal(cells, axis1=-2, axis2=-1)
    true, predicted = cells.sum(axis=-1), cells.sum(axis=-2)
    return (
        {"precision": hits, "recall": hits, "f1": 2 * hits},
        {"precision": predicted, "recall": true, "f1": true + predicted},
    )


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, NaN where there is no whole; of arrays of any shape."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)
