"""Straight-lining: the longest run of one grade, and its probability by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluation.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Straight:
    """Longest run of one grade in the order of answering, and the most frequent grade.

    `length`, `start` (the place of its first answer, from 0) and `grade` are of the longest run, the
    first of them if there are several; 0 and None without answers. `chance` is the probability of a
    run at least as long, of any grade, if the same shares of grades came in a random order. `top` is
    the share of the grade `top_grade`.
    """

    n: int
    length: int
    start: int
    grade: int | None
    top_grade: int | None
    top: Estimate
    chance: Estimate


def straight(grades: Sequence[int]) -> Straight:
    """Return the longest run in a list of grades in the order in which they were given.

    The shares are those of the list itself, so a rater who gives one grade throughout is not
    surprising by `chance` (it is 1): there `top` tells. Empty: length 0, the rest undefined.
    """
    n = len(grades)
    if n == 0:
        undefined = Estimate(None, "undefined, because there are no answers", 0)
        return Straight(0, 0, 0, None, None, undefined, undefined)
    length, start, current = 1, 0, 1
    for position, (previous, next_grade) in enumerate(pairwise(grades), start=1):
        current = current + 1 if next_grade == previous else 1
        if current > length:
            length, start = current, position + 1 - current
    counted = Counter(grades)
    top_grade, top = min(counted.items(), key=lambda grade_count: (-grade_count[1], grade_count[0]))
    shares = [count / n for count in counted.values()]
    return Straight(
        n=n,
        length=length,
        start=start,
        grade=grades[start],
        top_grade=top_grade,
        top=Estimate(top / n, None, n),
        chance=Estimate(chance_of_run(shares, n, length), None, n),
    )


def chance_of_run(shares: Sequence[float], n: int, length: int) -> float:
    """Return the probability that n independent draws have a run of at least this length.

    `shares` are the probabilities of the values and add up to 1. 1 for a length of 1 or less, 0
    for one beyond n. Exact: let F(t) be the probability that t draws hold no such run, and f_v(t)
    that they hold none and end in v. A run of v is completed at t where the draw before it was
    not v, so f_v(t) = p_v F(t - 1) - p_v^length (F(t - length) - f_v(t - length)).

    Source: Feller (1968), An Introduction to Probability Theory 1, chapter XIII, on success runs.
    """
    if length <= 1:
        return 1.0 if n else 0.0
    if length > n:
        return 0.0
    free = [1.0]  # F(t)
    ending = [[0.0] for _ in shares]  # f_v(t)
    whole = [share**length for share in shares]
    for t in range(1, n + 1):
        for share, run, ends in zip(shares, whole, ending, strict=True):
            value = share * free[t - 1]
            if t >= length:
                value -= run * (free[t - length] - ends[t - length])
            ends.append(value)
        free.append(sum(ends[t] for ends in ending))
    return min(1.0, max(0.0, 1.0 - free[n]))
