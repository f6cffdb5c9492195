"""Estimate, the result type of every statistic, and shared readers of rating arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic, or the reason why it is undefined; never a stand-in number.

    `n` counts the units that the value is computed from (items, pairs, questions; each function
    says which) and `missing` those left out because a rating is absent. `low` and `high` bound
    an interval where one was asked for; `interval_reason` says why it could not be given.

    Raises ValueError if both or neither of value and reason are given, if the value is not finite,
    or if the interval has only one end.
    """

    value: float | None
    reason: str | None
    n: int
    missing: int = 0
    low: float | None = None
    high: float | None = None
    interval_reason: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError("an estimate has either a value or a reason for having none")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"an undefined value is None with a reason, not {self.value}")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")

    def within(self, lowest: float, highest: float) -> Self:
        """The same with its interval cut off at the ends of what the statistic can be.

        The value itself is left as it is. A true value lies within these ends, so the interval holds as
        often as before.
        """
        if self.low is None or self.high is None:
            return self
        if lowest <= self.low and self.high <= highest:
            return self
        low, high = (float(min(max(end, lowest), highest)) for end in (self.low, self.high))
        return replace(self, low=low, high=high)


def complete_pairs(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray, int]:
    """The pairs that both sides rated (pairwise deletion), and how many pairs were left out.

    `a` and `b` are one-dimensional and of equal length, NaN = missing. Empty input gives empty
    arrays. Raises ValueError for other shapes, unequal lengths or infinite values.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"two lists of equal length are needed, not {first.shape}, {second.shape}")
    if np.isinf(first).any() or np.isinf(second).any():
        raise ValueError("a rating is a finite number, or NaN where it is missing")
    rated = ~(np.isnan(first) | np.isnan(second))
    return first[rated], second[rated], int((~rated).sum())


def level_index(ratings: ArrayLike, levels: ArrayLike) -> IntArray:
    """The position of each rating in `levels`, and -1 where the rating is missing (NaN).

    `ratings` may have any shape, which the result keeps; `levels` lists the scale, used or not.
    Raises ValueError for fewer than two levels, repeated levels, or a rating that is not a level.
    """
    values, scale = np.asarray(ratings, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    if scale.ndim != 1 or len(scale) < 2 or len(np.unique(scale)) != len(scale):
        raise ValueError("a scale is a list of two or more different levels")
    order, rated = scale.argsort(), ~np.isnan(values)
    present = values[rated]  # most raters see few of the items
    position = order[np.searchsorted(scale, present, sorter=order).clip(max=len(scale) - 1)]
    unknown = scale[position] != present
    if unknown.any():
        raise ValueError(f"ratings outside the scale: {np.unique(present[unknown]).tolist()}")
    index = np.full(values.shape, -1, dtype=np.int64)
    index[rated] = position
    return index
