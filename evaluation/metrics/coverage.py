"""Coverage of a retrieval context or a report: how many answerable questions it answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.grades import NO_ANSWERABLE, as_grades, question_indices
from evaluation.stats.estimate import Estimate, FloatArray


@dataclass(frozen=True, slots=True)
class Coverage(Estimate):
    """Coverage, 0 to 1; `n` = answerable questions, `missing` = unrated cells among them.

    `answerable` and `covered` are question indices from 0. An unrated cell is not a grade of 0: it
    answers nothing, so coverage with `missing` above 0 may be too low.
    """

    answerable: tuple[int, ...] = ()
    covered: tuple[int, ...] = ()


def answerable_questions(p_star: ArrayLike, eta: float) -> tuple[int, ...]:
    """The questions that some relevant passage answers: the consistency filter.

    `p_star` holds the grades of the relevant passages, passages x questions, NaN = unrated, which
    answers nothing. Returns indices from 0, in order; none without passages. Raises ValueError if
    `p_star` is not two-dimensional (without passages it is 0 x questions).
    Source: CRUX (Ju et al., 2025), section 3.2.
    """
    return _answered(as_grades(p_star), eta)


def coverage(z: ArrayLike, answerable: ArrayLike, eta: float) -> Coverage:
    """Return the share of the answerable questions that a passage of Z answers (grade >= eta).

    `z` holds the grades of the context's passages, passages x questions, NaN = unrated; a report
    is one row. `answerable` lists question indices. Questions that are not answerable never count,
    even if Z answers them. No passages: 0. No answerable questions: undefined. Raises ValueError
    if `z` is not two-dimensional or an index is repeated or is not one of its questions.
    Source: CRUX (Ju et al., 2025), section 3.3, eq. 3.
    """
    grades = as_grades(z)
    questions = question_indices(answerable, grades.shape[1])
    covered = tuple(sorted(set(_answered(grades, eta)) & set(questions.tolist())))
    size, missing = len(questions), int(np.isnan(grades[:, questions]).sum())
    indices = tuple(questions.tolist())
    if size == 0:
        return Coverage(None, NO_ANSWERABLE, 0)
    return Coverage(len(covered) / size, None, size, missing, answerable=indices, covered=covered)


def _answered(grades: FloatArray, eta: float) -> tuple[int, ...]:
    return tuple(np.flatnonzero((grades >= eta).any(axis=0)).tolist())
