"""Rows of a topic's rating matrix: cells with shades, and new or redundant answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.grades import BoolArray
from evaluation.stats.estimate import Estimate, FloatArray

NEW, REDUNDANT = "new", "again"
ROLES = {NEW: ", new at this rank", REDUNDANT: ", redundant, as a rank above answers it"}


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a pair. Without a grade it is unrated, and has no shade and no role."""

    question: int
    number: int
    grade: int | None = None
    shade: int | None = None
    role: str = ""
    by_people: bool = False

    @property
    def description(self) -> str:
        """Text of the cell, without its row and column."""
        if self.grade is None:
            return "unrated"
        source_note = " by people" if self.by_people else ""
        return f"grade {self.grade}{source_note}{ROLES.get(self.role, '')}"


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """Row of a text, in the order of the topic's questions.

    `n_answers` counts the answerable questions that it answers, `n_unrated` its cells without a
    grade, `tokens` is None if its text is not there. `rank` is its place in the run, `required`
    its place in the required subset, `gain` what its rank gains in alpha-nDCG before the discount,
    `coverage` that of a report or reference alone; None where a row has none.
    """

    text: int
    name: str
    kind: str
    system: str
    pair_query: str
    """The end of its pairs' URLs."""
    is_visitor: bool
    """A passage that does not belong to the topic."""
    tokens: int | None
    cells: tuple[Cell, ...]
    n_answers: int
    n_unrated: int
    rank: int | None = None
    required: int | None = None
    gain: float | None = None
    coverage: Estimate | None = None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of one group; `n_hidden` more of them are not shown here."""

    title: str
    note: str
    rows: tuple[MatrixRow, ...]
    n_hidden: int = 0


def answers(grades: FloatArray, answerable: Sequence[int], eta: int) -> BoolArray:
    """Return a mask of answers to answerable questions, texts x questions; unrated is False."""
    counted = np.zeros(grades.shape[1], dtype=bool)
    counted[list(answerable)] = True
    return np.asarray((grades >= eta) & counted)


def roles(hits: BoolArray) -> list[list[str]]:
    """Return the role of each answer in a ranking: `new`, `again`, or "" without an answer.

    `hits` is ranks x questions. A question that is answered first at a rank is new there, and
    redundant at each rank below.
    """
    before = np.cumsum(hits, axis=0) > hits
    return [
        [
            "" if not hit else REDUNDANT if is_repeat else NEW
            for hit, is_repeat in zip(row, repeats, strict=True)
        ]
        for row, repeats in zip(hits.tolist(), before.tolist(), strict=True)
    ]


def cells(
    grades: FloatArray,
    questions: Sequence[tuple[int, int]],
    levels: tuple[int, ...],
    row_roles: Sequence[str],
    by_people: BoolArray,
) -> tuple[Cell, ...]:
    """Return the cells of a text, with arguments in the order of the questions.

    `questions` holds the primary key and the number of each. One of six shades stands for the
    place of a grade between the lowest and the highest of `levels`.
    """
    low, reach = levels[0], levels[-1] - levels[0]
    return tuple(
        Cell(pk, number)
        if np.isnan(grade)
        else Cell(pk, number, int(grade), round(5 * (grade - low) / reach), role, person)
        for (pk, number), grade, role, person in zip(
            questions, grades.tolist(), row_roles, by_people.tolist(), strict=True
        )
    )
