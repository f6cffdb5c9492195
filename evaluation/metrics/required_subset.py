"""The required subset P** of the relevant passages: the oracle retrieval context Z*."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.grades import BoolArray, as_grades

Variant = Literal["greedy_marginal", "static_skip", "static_noskip", "authors"]


@dataclass(frozen=True, slots=True)
class RequiredSubset:
    """The passages of a required subset, in the order in which they were picked.

    `rows` are passage indices from 0, `gains` the number of questions that each was the first to
    answer, and `covered` the indices of all questions that the subset answers. `n` counts the
    passages to choose from and `missing` their unrated cells: a rating there could change the
    subset. Nothing answered: all three are empty.
    """

    rows: tuple[int, ...]
    gains: tuple[int, ...]
    covered: tuple[int, ...]
    n: int
    missing: int


def required_subset(
    grades: ArrayLike, eta: float, variant: Variant = "greedy_marginal"
) -> RequiredSubset:
    """Passages that together answer every question that any relevant passage answers.

    `grades` holds the relevant passages, passages x questions, NaN = unrated, which answers
    nothing; a grade >= `eta` answers. The variants:

    - `greedy_marginal`: the passage that answers most questions that are still open, the first of
      equals, until no passage answers another one.
    - `static_skip`: passages by the number of questions they answer, the first of equals first;
      one that answers nothing new is skipped.
    - `static_noskip`: the same order, keeping every passage until all is answered.
    - `authors`: what the authors' code does. To the number of open questions that a passage answers
      it adds 0.1 if any rating on an open question is above 0. A passage that answers one has such
      a rating wherever eta is above 0, so that this picks what greedy_marginal picks.

    No variant always finds the smallest such subset. No passages, or none that answers: empty. Raises
    ValueError for an unknown variant, or grades that are not two-dimensional.
    Source: CRUX (Ju et al., 2025), section 3.2 and Table 5, which leave the variants open.
    """
    matrix = as_grades(grades)
    answers = matrix >= eta
    if variant not in get_args(Variant):
        raise ValueError(f"variants are {', '.join(get_args(Variant))}, not {variant!r}")
    if variant in ("greedy_marginal", "authors"):
        rows = _greedy(answers)
    else:
        rows = _static(answers, skip=variant == "static_skip")
    gains, covered = _gains(answers, rows)
    return RequiredSubset(
        rows=tuple(rows),
        gains=gains,
        covered=covered,
        n=len(matrix),
        missing=int(np.isnan(matrix).sum()),
    )


def _greedy(answers: BoolArray) -> list[int]:
    rows: list[int] = []
    open_questions = answers.any(axis=0)
    while open_questions.any():
        # argmax takes the first of equals.
        row = int(np.argmax((answers & open_questions).sum(axis=1)))
        rows.append(row)
        open_questions &= ~answers[row]
    return rows


def _static(answers: BoolArray, *, skip: bool) -> list[int]:
    rows: list[int] = []
    open_questions = answers.any(axis=0)
    for row in np.argsort(-answers.sum(axis=1), kind="stable").tolist():
        if not open_questions.any():
            break
        if skip and not (answers[row] & open_questions).any():
            continue
        rows.append(row)
        open_questions &= ~answers[row]
    return rows


def _gains(answers: BoolArray, rows: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    covered_so_far = np.logical_or.accumulate(answers[rows], axis=0)
    totals = covered_so_far.sum(axis=1)
    covered = np.flatnonzero(answers[rows].any(axis=0))
    return tuple(np.diff(totals, prepend=0).tolist()), tuple(covered.tolist())
