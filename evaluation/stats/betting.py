"""Confidence sequences by betting: intervals of a mean that hold however often one looks.

Values are in [0, 1], in random order: drawn with replacement, or without it from a finite population.
Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Journal of
the Royal Statistical Society B 86(1), 1-27, arXiv 2010.09686.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.estimate import FloatArray

ALPHA = 0.05
GRID = 1000  # steps between the candidate means 0 and 1
LARGEST_BET = 0.5  # share of the capital that one value may cost
ROUNDING = 1e-9
LARGEST_CAPITAL = 1e200  # far above any 1/alpha, and no infinity to compute with
BLOCK = 1000  # values whose capitals are in memory at once


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """Running estimates with both ends of the interval, one entry per value seen.

    With probability 1 - alpha the mean lies in all of the intervals at once.
    """

    value: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __len__(self) -> int:
        return len(self.value)

    def first_outside(self, mean: float) -> int | None:
        """Return the number of values at which a mean is excluded for the first time."""
        return _first((self.lower > mean + ROUNDING) | (self.upper < mean - ROUNDING))

    def first_width(self, width: float) -> int | None:
        """Return the number of values at which the interval is so narrow for the first time."""
        return _first(self.upper - self.lower <= width)

    def within(self, lowest: float, highest: float) -> ConfidenceSequence:
        """Return the sequence with its intervals cut off at the ends of what the mean can be."""
        lower, upper = (np.clip(ends, lowest, highest) for ends in (self.lower, self.upper))
        return ConfidenceSequence(self.value, lower, upper)


def betting_sequence(
    values: ArrayLike, *, alpha: float = ALPHA, population: int | None = None, grid: int = GRID
) -> ConfidenceSequence:
    """Return the hedged betting sequence of the mean of values in [0, 1].

    `population`: the size of the finite set from which values are drawn without replacement, whose mean
    is then estimated; None: with replacement. Candidate means are `grid` + 1 equidistant ones, and the
    interval is widened by a step at each end. Raises ValueError for values outside [0, 1], an alpha
    that is not between 0 and 1, or more values than the population has.
    """
    x = _checked(values, alpha, population)
    candidates = np.linspace(0, 1, grid + 1)
    bets, capital = _bets(x, alpha), np.ones((2, grid + 1))
    lower, upper = np.zeros(len(x)), np.ones(len(x))
    for start in range(0, len(x), BLOCK):
        block = slice(start, start + BLOCK)
        means, is_possible = _conditional_means(x, candidates, population, block)
        series = _capital(x[block], means, bets[block], capital)
        capital = np.minimum(series[:, -1], LARGEST_CAPITAL)
        is_in = (series.max(axis=0) / 2 <= 1 / alpha) & is_possible
        has_any = is_in.any(axis=1)
        first, last = is_in.argmax(axis=1), grid - is_in[:, ::-1].argmax(axis=1)
        lower[block] = np.where(has_any, np.maximum(candidates[first] - 1 / grid, 0), 0.0)
        upper[block] = np.where(has_any, np.minimum(candidates[last] + 1 / grid, 1), 1.0)
    if population is not None:
        sums = x.cumsum()
        lower = np.maximum(lower, sums / population)
        upper = np.minimum(upper, 1 - (np.arange(1, len(x) + 1) - sums) / population)
    return _running(x, lower, upper)


def empirical_bernstein_sequence(
    values: ArrayLike, *, alpha: float = ALPHA, population: int | None = None
) -> ConfidenceSequence:
    """Return the predictable plug-in empirical Bernstein sequence of a mean.

    Of values in [0, 1], in closed form, and wider than `betting_sequence`. Raises ValueError as there.
    """
    x = _checked(values, alpha, population)
    lower = np.maximum(_bernstein_bound(x, alpha, population), 0)
    upper = np.minimum(1 - _bernstein_bound(1 - x, alpha, population), 1)
    return _running(x, lower, upper)


def assisted_sequence(
    judge: ArrayLike,
    errors: ArrayLike,
    *,
    bound: float,
    alpha: float = ALPHA,
    grid: int = GRID,
) -> ConfidenceSequence:
    """Return the betting sequence of people's mean over a population that a judge has graded.

    `judge` are its values of all units, `errors` people's values less the judge's on a growing random part
    of them, drawn without replacement, each in [-bound, bound]: the judge's mean plus the sequence of the
    mean error. Raises ValueError as `betting_sequence`.
    """
    by_judge, distances = np.asarray(judge, np.float64), np.asarray(errors, np.float64)
    if not len(by_judge) or np.isnan(by_judge).any():
        raise ValueError("the judge has a value of every unit")
    if (np.abs(distances) > bound + ROUNDING).any():
        raise ValueError(f"an error is from {-bound:g} to {bound:g}")
    scaled = np.clip((distances + bound) / (2 * bound), 0, 1)
    sequence = betting_sequence(scaled, alpha=alpha, population=len(by_judge), grid=grid)
    start = float(by_judge.mean())
    return ConfidenceSequence(
        *(
            start + 2 * bound * ends - bound
            for ends in (sequence.value, sequence.lower, sequence.upper)
        )
    )


def e_values(values: ArrayLike, mean: float, *, alpha: float = ALPHA) -> FloatArray:
    """Return the e-value after each value against the hypothesis that the mean is `mean`.

    The mean of the capital of both bets: 1/alpha is reached with probability alpha at most, however often
    one looks. Raises ValueError for values outside [0, 1].
    """
    x = _checked(values, alpha, None)
    means = np.full((len(x), 1), mean)
    capital = _capital(x, means, _bets(x, alpha), np.ones((2, 1)))
    return np.asarray(capital.mean(axis=0)[:, 0])


def _checked(values: ArrayLike, alpha: float, population: int | None) -> FloatArray:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not ((x >= 0) & (x <= 1)).all():
        raise ValueError("values are a list of numbers from 0 to 1")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is between 0 and 1, not {alpha}")
    if population is not None and len(x) > population:
        raise ValueError(f"{len(x)} values cannot be drawn from {population} without replacement")
    return x


def _conditional_means(
    x: FloatArray, candidates: FloatArray, population: int | None, block: slice
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the expected next value under each candidate, and whether it is possible.

    Values of the block x candidates.
    """
    if population is None:
        means = np.broadcast_to(candidates, (len(x[block]), len(candidates)))
        return means, np.ones(means.shape, dtype=bool)
    sums = _before(x.cumsum(), 0.0)[block]
    remaining = (population - np.arange(len(x)))[block]
    means = (population * candidates - sums[:, np.newaxis]) / remaining[:, np.newaxis]
    is_possible = (means >= -ROUNDING) & (means <= 1 + ROUNDING)
    return np.clip(means, 0, 1), is_possible


def _capital(
    x: FloatArray, means: FloatArray, predicted: FloatArray, start: FloatArray
) -> FloatArray:
    """Return the capital of bets on a larger and on a smaller mean: 2 x values x candidates.

    `start` is the capital before these values: 2 x candidates.
    """
    bets = predicted[:, np.newaxis]
    gains = x[:, np.newaxis] - means
    with np.errstate(divide="ignore", over="ignore"):
        larger = 1 + np.minimum(bets, LARGEST_BET / means) * gains
        smaller = 1 - np.minimum(bets, LARGEST_BET / (1 - means)) * gains
        series = np.stack([larger.cumprod(axis=0), smaller.cumprod(axis=0)])
        return np.asarray(series * start[:, np.newaxis])


def _bets(x: FloatArray, alpha: float) -> FloatArray:
    """Return the predictable bets: larger, the smaller the variance of the values before.

    The variance has one imagined value more, with mean 1/2 and variance 1/4.
    """
    t = np.arange(1, len(x) + 1)
    means = (0.5 + x.cumsum()) / (t + 1)
    variances = (0.25 + ((x - means) ** 2).cumsum()) / (t + 1)
    return np.asarray(
        np.sqrt(2 * math.log(2 / alpha) / (t * np.log(1 + t) * _before(variances, 0.25)))
    )


def _bernstein_bound(x: FloatArray, alpha: float, population: int | None) -> FloatArray:
    """Return the lower bound of the empirical Bernstein sequence."""
    t = np.arange(1, len(x) + 1)
    bets = np.minimum(_bets(x, alpha), LARGEST_BET)
    sums = x.cumsum()
    squares = (x - _before(sums / t, 0.0)) ** 2
    costs = (squares * (-np.log(1 - bets) - bets)).cumsum()
    earlier_sum, earlier = np.zeros(len(x)), np.zeros(len(x))
    if population is not None:
        remaining = population - t + 1
        earlier_sum, earlier = _before(sums, 0.0) / remaining, (t - 1) / remaining
    weights = (bets * (1 + earlier)).cumsum()
    return np.asarray(((bets * (x + earlier_sum)).cumsum() - math.log(2 / alpha) - costs) / weights)


def _before(values: FloatArray, first: float) -> FloatArray:
    """Return the values moved on by one place, with `first` in front."""
    return np.concatenate([[first], values])[: len(values)]


def _running(x: FloatArray, lower: FloatArray, upper: FloatArray) -> ConfidenceSequence:
    """Return the running intersection of the intervals."""
    means = x.cumsum() / np.arange(1, len(x) + 1)
    return ConfidenceSequence(means, np.maximum.accumulate(lower), np.minimum.accumulate(upper))


def _first(is_true: NDArray[np.bool_]) -> int | None:
    return int(is_true.argmax()) + 1 if is_true.any() else None
