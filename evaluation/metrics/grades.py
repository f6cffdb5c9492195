"""The readings of a matrix of grades, passages x questions, that the metrics share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.estimate import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

NO_ANSWERABLE = "undefined, because there are no answerable questions"


def as_grades(ratings: ArrayLike) -> FloatArray:
    """Grades as passages x questions, NaN = unrated.

    Raises ValueError if they are not two-dimensional (without passages they are 0 x questions).
    """
    grades = np.asarray(ratings, dtype=np.float64)
    if grades.ndim != 2:
        raise ValueError(f"ratings are passages x questions, not {grades.shape}")
    return grades


def same_questions(*matrices: FloatArray) -> None:
    """Raises ValueError unless all matrices have the same number of questions (columns)."""
    widths = {matrix.shape[-1] for matrix in matrices}
    if len(widths) > 1:
        raise ValueError(f"matrices of one topic have the same questions, not {sorted(widths)}")


def question_indices(answerable: ArrayLike, n_questions: int) -> IntArray:
    """The answerable questions as indices from 0, in order.

    Raises ValueError if one is repeated or is not below `n_questions`.
    """
    indices = np.sort(np.asarray(answerable, dtype=np.int64))
    is_outside = (indices < 0) | (indices >= n_questions)
    if is_outside.any() or len(np.unique(indices)) != len(indices):
        raise ValueError(f"answerable questions are distinct and below {n_questions}")
    return indices
