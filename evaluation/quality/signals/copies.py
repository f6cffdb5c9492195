"""Detection of copied answers: two raters with more identical highlights than by chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from evaluation.stats.estimate import FloatArray, IntArray

Highlights = frozenset[tuple[int, int]]  # (start, end) of each, in code points of the text

MIN_SAME = 5  # identical answers, below which one easy text could explain them
FALSE_ALARM = 0.05  # probability that any pair of a campaign of honest raters is found
# Probability that two honest raters who both highlight something for an answer highlight the very same:
# the largest of the pairs of raters of the real study. A campaign's own share replaces it where it
# is larger, up to a bound, because copies raise that share themselves.
CHANCE = 0.16
MAX_CHANCE = 0.4


@dataclass(frozen=True, slots=True)
class Copy:
    """Counts of equal answers of two raters, of those that both gave.

    Of `n` answers `same` have the same grade, and `by_chance` would if each gave the same shares of
    grades in a random order. Of `marked` answers, those in which both highlighted something,
    `same_marks` are identical: the same grade and the very same offsets. `other` is the index of the
    other rater.
    """

    other: int
    n: int
    same: int
    by_chance: float
    marked: int
    same_marks: int


def copies(
    rater: IntArray, pair: IntArray, grade: IntArray, highlights: Sequence[Highlights]
) -> dict[int, list[Copy]]:
    """Return likely copies by rater: the others with too many identical answers for chance.

    One entry per answer: its rater, its pair of an item and a question (both from 0), its grade and
    its highlights. A rater answers a pair once. People who agree highlight the same passage and
    seldom the same characters, so equal offsets tell copies where equal grades do not. Answers that
    only one of two raters highlighted, or neither, are not evidence.

    Two raters are found if MIN_SAME answers or more, and half of those that both highlighted, are
    identical, and if so many are improbable: the binomial tail probability, with the campaign's
    share of identical answers between CHANCE and MAX_CHANCE, is at most FALSE_ALARM divided by the
    number of pairs of raters with a common highlighted answer (Bonferroni). The share may differ
    between answers: the tail of a sum with unequal probabilities is no heavier (Hoeffding 1956). The most
    alike come first. Raises ValueError for arrays of unequal length.

    Pairs of raters without a common answer are never formed: time and memory grow with the number of
    answers times the raters of an answer.
    """
    if not len(rater) == len(pair) == len(grade) == len(highlights):
        raise ValueError("one rater, pair, grade and set of highlights for each answer")
    marks_ids: dict[Highlights, int] = {frozenset(): 0}
    marks_id = np.array(
        [marks_ids.setdefault(marks, len(marks_ids)) for marks in highlights], dtype=np.int64
    )
    is_marked = marks_id > 0
    first, second, marked, same_marks = _improbable(
        rater[is_marked], pair[is_marked], _ids(pair, grade, marks_id)[is_marked]
    )
    n, same, by_chance = _equal_grades(first, second, rater, pair, grade)
    by_rater: dict[int, list[Copy]] = defaultdict(list)
    counts = (column.tolist() for column in (first, second, n, same, by_chance, marked, same_marks))
    for index, partner, *row in zip(*counts, strict=True):
        by_rater[index].append(Copy(partner, *row))
        by_rater[partner].append(Copy(index, *row))
    for of_one in by_rater.values():
        of_one.sort(key=lambda copy: (-copy.same_marks / copy.marked, -copy.n, copy.other))
    return dict(by_rater)


def _ids(*columns: IntArray) -> IntArray:
    """Return a number for each row, from 0: equal rows have the same."""
    rows = columns[0]
    for column in columns[1:]:
        _, number = np.unique(column, return_inverse=True)
        _, rows = np.unique(rows * (number.max(initial=0) + 1) + number, return_inverse=True)
    return np.asarray(rows, dtype=np.int64)


def _incidence(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Any:
    """Return a sparse matrix with a 1 for each entry."""
    return scipy.sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape)


def _improbable(
    rater: IntArray, pair: IntArray, answer_id: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the raters of each pair that is found, and its `marked` and `same_marks`.

    From one row per highlighted answer. Identical answers have the same `answer_id`.
    """
    n_raters = int(rater.max(initial=-1)) + 1
    marked = _incidence(rater, pair, (n_raters, int(pair.max(initial=-1)) + 1))
    identical = _incidence(rater, answer_id, (n_raters, int(answer_id.max(initial=-1)) + 1))
    common = scipy.sparse.triu(marked @ marked.T, k=1, format="coo")
    first, second = (index.astype(np.int64) for index in common.coords)
    n_marked = common.data
    same = _at(identical @ identical.T, first, second)
    chance = min(max(same.sum() / max(n_marked.sum(), 1), CHANCE), MAX_CHANCE)
    tail = scipy.special.bdtrc(same - 1.0, n_marked, chance)  # probability of `same` or more
    is_improbable = tail * len(same) <= FALSE_ALARM
    is_improbable &= (same >= MIN_SAME) & (2 * same >= n_marked)
    return first[is_improbable], second[is_improbable], n_marked[is_improbable], same[is_improbable]


def _equal_grades(
    first: IntArray, second: IntArray, rater: IntArray, pair: IntArray, grade: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return `n`, `same` and `by_chance` of each of these pairs of raters."""
    is_listed = np.isin(rater, np.union1d(first, second))
    rater, pair, grade = rater[is_listed], pair[is_listed], grade[is_listed]
    shape = int(rater.max(initial=-1)) + 1, int(pair.max(initial=-1)) + 1
    answered = _incidence(rater, pair, shape)
    n = _at(answered @ answered.T, first, second)
    same, products = np.zeros_like(n), np.zeros_like(n)
    for level in np.unique(grade):
        is_level = grade == level
        graded = _incidence(rater[is_level], pair[is_level], shape)
        same += _at(graded @ graded.T, first, second)
        in_common = graded @ answered.T  # answers of this level to what the other answered as well
        products += _at(in_common, first, second) * _at(in_common, second, first)
    return n, same, products / np.maximum(n, 1)


def _at(matrix: Any, row: IntArray, column: IntArray) -> IntArray:
    if not len(row):  # SciPy gives a sparse array for no entries, and a dense one for some
        return np.zeros(0, dtype=np.int64)
    return np.asarray(matrix[row, column], dtype=np.int64)
