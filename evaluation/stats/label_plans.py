"""Numbers of labels that a fixed draw and a confidence sequence need, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.stats.betting import ALPHA, ROUNDING, ConfidenceSequence, assisted_sequence
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

N_SIMULATED = 20
LONGEST = 1024  # units that a simulated sequence goes on for
FEWEST_ERRORS = 5  # of a judge's grade, from which on its own errors are drawn
FEWEST_FIXED = 10  # units, since a variance of fewer is a guess
POWER = 0.8
EQUAL_ERRORS = "no interval, because the judge’s error is the same on every unit of the sample"

Stop = Callable[[ConfidenceSequence], int | None]


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Pairs of a population of units: weight, the judge's 0 or 1, and people's value less it.

    `unit` is the number of the unit of each pair; `errors` is NaN where people have no value.
    """

    unit: IntArray
    weights: FloatArray
    judge: FloatArray
    errors: FloatArray

    @property
    def n_units(self) -> int:
        return int(self.unit.max()) + 1 if len(self.unit) else 0

    @property
    def judge_values(self) -> FloatArray:
        return self._sums(self.judge)

    def _sums(self, values: FloatArray) -> FloatArray:
        """Return the weighted sums of the pairs' values over each unit."""
        sums = np.bincount(self.unit, self.weights * values, self.n_units)
        return np.asarray(sums, dtype=np.float64)

    def error_rate(self, assumed_rate: float) -> float:
        """Return the mean absolute error where people have values, else the assumed one."""
        observed = self.errors[~np.isnan(self.errors)]
        return float(np.abs(observed).mean()) if len(observed) >= FEWEST_ERRORS else assumed_rate

    def simulate_errors(self, assumed_rate: float, generator: np.random.Generator) -> FloatArray:
        """Return an error of each unit: where people have no value, drawn from those observed.

        From pairs with the same grade of the judge; with too few of these, wrong at the error rate.
        """
        errors, rate = self.errors.copy(), self.error_rate(assumed_rate)
        for grade in (0.0, 1.0):
            of_grade = self.judge == grade
            observed = self.errors[of_grade & ~np.isnan(self.errors)]
            unknown = of_grade & np.isnan(self.errors)
            n = int(unknown.sum())
            if len(observed) >= FEWEST_ERRORS:
                errors[unknown] = generator.choice(observed, n)
            else:
                errors[unknown] = (1 - 2 * grade) * (generator.random(n) < rate)
        return self._sums(errors)


@dataclass(frozen=True, slots=True)
class Need:
    """Units that a plan needs: the median and the worst tenth of simulated studies.

    `needs_population`: it needs every unit of the population, or does not stop in LONGEST of them.
    """

    median: int
    worst_tenth: int
    needs_population: bool


def sequence_need(
    pairs: JudgedPairs, *, bound: float, stop: Stop, assumed_rate: float, seed: int = 0
) -> Need:
    """Return the units until a sequence stops, looked at after each of them.

    `bound` is that of errors, 1 for a mean from 0 to 1 and 2 for a difference from -1 to 1.
    """
    generator = np.random.default_rng(seed)
    judge = pairs.judge_values
    stops = []
    for _ in range(N_SIMULATED):
        errors = pairs.simulate_errors(assumed_rate, generator)
        order = generator.permutation(len(errors))
        stops.append(_stop(judge, np.clip(errors[order], -bound, bound), bound, stop))
    n = len(judge)
    median, worst = np.quantile(stops, (0.5, 0.9), method="higher").tolist()
    return Need(int(median), int(worst), bool(median >= min(n, LONGEST)))


def _stop(judge: FloatArray, errors: FloatArray, bound: float, stop: Stop) -> int:
    longest = min(len(errors), LONGEST)
    n = 64
    while True:
        n = min(n, longest)
        stopped = stop(assisted_sequence(judge, errors[:n], bound=bound).within(1 - bound, 1))
        if stopped or n == longest:
            return stopped or longest
        n *= 2


def fixed_need(
    pairs: JudgedPairs, *, half_width: float, assumed_rate: float, power: float = 0.0, seed: int = 0
) -> Need:
    """Return the units of a simple random sample whose t interval is so narrow.

    The variance is that of the error in simulated populations, with the correction for a finite
    one. With a `power`, a difference of `half_width` is detected with it.
    """
    generator = np.random.default_rng(seed)
    variances = [
        pairs.simulate_errors(assumed_rate, generator).var(ddof=1) for _ in range(N_SIMULATED)
    ]
    sizes = [_fixed_size(variance, half_width, power, pairs.n_units) for variance in variances]
    median, worst = np.quantile(sizes, (0.5, 0.9), method="higher").tolist()
    return Need(int(median), int(worst), bool(median >= pairs.n_units))


def _fixed_size(variance: float, half_width: float, power: float, population: int) -> int:
    sizes = np.arange(min(FEWEST_FIXED, population), population + 1)
    reach = scipy.stats.t.ppf(1 - ALPHA / 2, np.maximum(sizes - 1, 1))
    if power:
        reach = reach + scipy.stats.norm.ppf(power)
    narrow = reach * np.sqrt(variance / sizes * (1 - sizes / population)) <= half_width
    return int(sizes[narrow.argmax()])


def finite_mean(judge: FloatArray, errors: FloatArray, alpha: float = ALPHA) -> Estimate:
    """Return people's mean over a population from the errors in a simple random sample.

    With a t interval, but where all errors are equal: a variance of 0 would promise certainty. Source:
    Cochran (1977), Sampling Techniques, section 7.3, difference estimator.
    """
    n, population = len(errors), len(judge)
    value = float(judge.mean() + errors.mean())
    if n == population:
        return Estimate(value, None, n, 0, value, value)
    if n < 2 or np.ptp(errors) <= ROUNDING:
        return Estimate(value, None, n, interval_reason=EQUAL_ERRORS)
    error = float(np.sqrt(errors.var(ddof=1) / n * (1 - n / population)))
    reach = float(scipy.stats.t.ppf(1 - alpha / 2, n - 1)) * error
    return Estimate(value, None, n, 0, value - reach, value + reach)


def decides_order(margin: float) -> Stop:
    """Return the rule that stops where 0 is excluded, or all that is not within the margin."""

    def stop(sequence: ConfidenceSequence) -> int | None:
        is_inside: NDArray[np.bool_] = (sequence.lower > -margin) & (sequence.upper < margin)
        inside = int(is_inside.argmax()) + 1 if is_inside.any() else None
        stops = [n for n in (sequence.first_outside(0.0), inside) if n]
        return min(stops, default=None)

    return stop


def reaches_half_width(half_width: float) -> Stop:
    """Return the rule that stops where the interval is so narrow."""
    return lambda sequence: sequence.first_width(2 * half_width)
