"""Slices of pairs by the grade that one rater gave them under another rubric."""

from __future__ import annotations

import numpy as np

from evaluation.data.ratings import RatingMatrix, frame
from evaluation.data.selection import Slicing
from evaluation.stats.estimate import FloatArray


def grades_of_slice(by: Slicing, matrix: RatingMatrix) -> FloatArray:
    """Return the grade of each item by the rater of a slicing, NaN if none: one query."""
    rows = frame(matrix.selection.dataset, [by.rater.pk], [by.rubric.pk])
    grades = np.full(matrix.n_items, np.nan)
    items = matrix.places(rows["text"].to_numpy(np.int64), rows["question"].to_numpy(np.int64))
    is_item = items >= 0
    grades[items[is_item]] = rows["grade"].to_numpy(np.float64)[is_item]
    return grades
