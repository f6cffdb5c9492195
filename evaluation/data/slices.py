"""Slices of pairs by the grade that one rater gave them under another rubric."""

from __future__ import annotations

import numpy as np

from evaluation.data.ratings import RatingMatrix, frame
from evaluation.data.selection import Slicing
from evaluation.stats.estimate import FloatArray


def called_by(by: Slicing, matrix: RatingMatrix) -> FloatArray:
    """The grade of each item by the rater of a slicing, NaN where that rater gave none: one query."""
    rows = frame(matrix.selection.dataset, [by.rater.pk], [by.rubric.pk])
    called = np.full(matrix.n_items, np.nan)
    places = matrix.places(rows["text"].to_numpy(np.int64), rows["question"].to_numpy(np.int64))
    here = places >= 0
    called[places[here]] = rows["grade"].to_numpy(np.float64)[here]
    return called
