"""Agreement of a rater, or a judge, with the majority (strict or plurality) of the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, IntArray, complete_pairs, level_index
from evaluation.stats.fleiss import counts, fleiss_kappa

Rule = Literal["strict", "plurality"]
"""More than half of an item's raters, or more of them than gave any other level."""


@dataclass(frozen=True, slots=True)
class AgainstMajority:
    """Agreement of one rater with the majority of the others.

    `majority` has one level per item, NaN where the others have no majority, which
    `n_no_majority` counts. `kappa` is Scott's pi of the rater and the majority.
    """

    majority: FloatArray
    n_no_majority: int
    kappa: Estimate


def rater_against_majority(
    ratings: ArrayLike, levels: ArrayLike, rule: Rule = "strict"
) -> tuple[AgainstMajority, ...]:
    """Each rater against the majority of the others, in the order of the columns.

    `ratings` is items x raters, NaN = missing; `levels` is the whole scale, used or not. An item
    counts for a rater if at least two others rated it and more than half of them agree; by
    "plurality", if more of them gave one level than any other. Errors as `fleiss.counts`.
    Source: the design of Know Your RAG (de Lima et al., 2024); kappa as `scott_pi`.
    """
    values, scale = np.asarray(ratings, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    return tuple(
        AgainstMajority(majority, int(np.isnan(majority).sum()), scott_pi(rater, majority, scale))
        for rater, majority in zip(values.T, majorities_of_others(values, scale, rule), strict=True)
    )


def majorities_of_others(
    ratings: ArrayLike, levels: ArrayLike, rule: Rule = "strict"
) -> Iterator[FloatArray]:
    """Yield for each rater the majority of the others: a level per item, NaN without one.

    Input and errors as `rater_against_majority`.
    """
    scale = np.asarray(levels, dtype=np.float64)
    positions, all_counts = level_index(ratings, levels), counts(ratings, levels)
    for rater in positions.T:
        remaining_counts = all_counts.copy()
        rated = np.flatnonzero(rater >= 0)
        remaining_counts[rated, rater[rated]] -= 1
        majority = majority_positions(remaining_counts, rule)
        yield np.where(majority >= 0, scale[majority], np.nan)


def majority_of(ratings: ArrayLike, levels: ArrayLike, rule: Rule = "strict") -> FloatArray:
    """The level that more than half of an item's raters gave, NaN where there is none.

    By "plurality" the level that more of them gave than any other. `ratings` is items x raters, NaN =
    missing. An item with fewer than two ratings has no majority. Errors as `fleiss.counts`.
    """
    majority = majority_positions(counts(ratings, levels), rule)
    return np.where(majority >= 0, np.asarray(levels, dtype=np.float64)[majority], np.nan)


def scott_pi(a: ArrayLike, b: ArrayLike, levels: ArrayLike) -> Estimate:
    """Scott's pi: agreement of two sides beyond what their pooled level shares would give.

    It is Fleiss' kappa of two raters. `a` and `b` are levels of the same items, one-dimensional,
    NaN = missing; `n` = items with both, `missing` = the others, which count in nothing. Undefined
    if no item has both or all are in one category. Raises ValueError for unequal lengths or a
    value outside `levels`.
    Source: Scott (1955), Public Opinion Quarterly 19(3), 321-325.
    """
    complete_pairs(a, b)
    both = np.column_stack([np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)])
    both[np.isnan(both).any(axis=1)] = np.nan
    return fleiss_kappa(counts(both, levels))


def relative_drop(human: Estimate, judge: Estimate) -> Estimate:
    """Return the judge's relative drop in agreement with a majority: (human - judge) / human.

    Negative where the judge agrees more. `n` is the human's. Undefined if either is, or if the
    human's agreement is not above 0. Compare over the same items.
    Source: as `rater_against_majority`.
    """
    if human.value is None or judge.value is None:
        side = "human" if human.value is None else "judge"
        return Estimate(
            None, f"undefined, because the {side}'s own kappa is undefined", human.n, human.missing
        )
    if human.value <= 0:
        reason = "undefined, because the human's agreement is not above 0"
        return Estimate(None, reason, human.n, human.missing)
    drop = (human.value - judge.value) / human.value
    return Estimate(drop, None, human.n, human.missing)


def majority_positions(count_matrix: IntArray, rule: Rule) -> IntArray:
    """Return the index of the majority's level of each item, -1 where there is none.

    `count_matrix` is items x levels, of a type that holds the number of raters.
    """
    by_level = np.ascontiguousarray(count_matrix.T)  # numpy goes through short rows slowly
    raters, largest = by_level.sum(axis=0, dtype=by_level.dtype), by_level.max(axis=0)
    by_majority = largest > raters - largest
    clear = (by_level == largest).sum(axis=0) == 1 if rule == "plurality" else by_majority
    return np.where((raters >= 2) & clear, by_level.argmax(axis=0), -1)
