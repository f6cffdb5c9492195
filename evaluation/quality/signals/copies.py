"""Detection of copied answers: two raters with equal grades and equal highlights."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation.stats.estimate import IntArray

Highlights = frozenset[tuple[int, int]]  # (start, end) of each, in code points of the text


@dataclass(frozen=True, slots=True)
class Copy:
    """Counts of equal answers of two raters, of those that both gave.

    Of `n` answers `same` have the same grade, and `by_chance` would if each gave the same shares of
    grades in a random order. Of `marked` answers, those in which either highlighted something,
    `same_marks` have the very same offsets. `other` is the index of the other rater.
    """

    other: int
    n: int
    same: int
    by_chance: float
    marked: int
    same_marks: int


def copies(
    rater: IntArray, pair: IntArray, grade: IntArray, highlights: Sequence[Highlights], least: int
) -> dict[int, list[Copy]]:
    """Return likely copies by rater: others with `least` or more identical marked answers.

    Identical are the grade and the highlights. Pairs with less than half of the highlights identical are
    left out. One entry per answer: its rater, its pair of an item and a question (both from 0), its grade
    and its highlights. A rater answers a pair once. People who agree highlight the same passage and
    seldom the same characters, so equal offsets tell copies where equal grades do not; two
    who highlight nothing are not compared. The most alike come first. Raises ValueError for arrays
    of unequal length.
    """
    if not len(rater) == len(pair) == len(grade) == len(highlights):
        raise ValueError("one rater, pair, grade and set of highlights for each answer")
    raters_by_answer: dict[tuple[int, int, Highlights], list[int]] = defaultdict(list)
    for rater_index, pair_index, level, marks in zip(
        rater.tolist(), pair.tolist(), grade.tolist(), highlights, strict=True
    ):
        if marks:
            raters_by_answer[pair_index, level, marks].append(rater_index)
    # Only pairs of raters with identical answers are compared in full.
    shared = Counter(
        both for group in raters_by_answer.values() for both in combinations(sorted(group), 2)
    )
    likely = [both for both, n in shared.items() if n >= least]
    answers = _by_rater(rater) if likely else {}
    by_rater: dict[int, list[Copy]] = defaultdict(list)
    for first, second in likely:
        copy = _compared(answers[first], answers[second], pair, grade, highlights)
        *_, marked, same_marks = copy
        if 2 * same_marks < marked:
            continue  # two people with many answers in common
        by_rater[first].append(Copy(second, *copy))
        by_rater[second].append(Copy(first, *copy))
    for of_one in by_rater.values():
        of_one.sort(key=lambda copy: (-copy.same_marks / copy.marked, -copy.n, copy.other))
    return dict(by_rater)


def _by_rater(rater: IntArray) -> dict[int, IntArray]:
    """Return the indexes of each rater's answers."""
    order = np.argsort(rater, kind="stable")
    raters, first = np.unique(rater[order], return_index=True)
    return dict(zip(raters.tolist(), np.split(order, first[1:]), strict=True))


def _compared(
    mine: IntArray,
    theirs: IntArray,
    pair: IntArray,
    grade: IntArray,
    highlights: Sequence[Highlights],
) -> tuple[int, int, float, int, int]:
    """Return n, same, by_chance, marked and same_marks of a Copy."""
    _, in_mine, in_theirs = np.intersect1d(pair[mine], pair[theirs], return_indices=True)
    both = list(zip(mine[in_mine].tolist(), theirs[in_theirs].tolist(), strict=True))
    grades = grade[mine[in_mine]], grade[theirs[in_theirs]]
    shares = [Counter(of_one.tolist()) for of_one in grades]
    marked = [(a, b) for a, b in both if highlights[a] or highlights[b]]
    return (
        len(both),
        int((grades[0] == grades[1]).sum()),
        sum(n * shares[1][level] for level, n in shares[0].items()) / len(both),
        len(marked),
        sum(highlights[a] == highlights[b] for a, b in marked),
    )
