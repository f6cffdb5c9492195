"""State of a stored sequence: the intervals so far, and whether it has stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.models import Dataset
from evaluation.models import LabelSequence
from evaluation.sequences.query import bound_of
from evaluation.sequences.units import PairKey, Unit, people_values, units_of
from evaluation.stats.betting import ConfidenceSequence, assisted_sequence
from evaluation.stats.clusters import clustered_mean
from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.label_plans import decides_order, finite_mean, reaches_half_width

NO_LABELS = "undefined, because people have not finished the first unit"
EQUAL_VALUES = "no interval, because people’s values are the same on every unit"
INCOMPLETE = "undefined, because a fixed draw is looked at once, when all of it is labelled"


@dataclass(frozen=True)
class SequenceState:
    """A stored sequence with the values of people up to the first unit without one.

    Order is fixed: a unit that was graded early counts when all before it are complete.
    """

    sequence: LabelSequence
    units: Sequence[Unit]
    people: FloatArray
    """People's values of the complete units, in order."""

    @property
    def n_units(self) -> int:
        return len(self.units)

    @property
    def n_complete(self) -> int:
        return len(self.people)

    @property
    def is_fixed(self) -> bool:
        return self.sequence.plan == LabelSequence.Plan.FIXED

    @property
    def is_order(self) -> bool:
        return self.sequence.kind == LabelSequence.Kind.ORDER

    @cached_property
    def judge(self) -> FloatArray:
        return np.array([unit.judge for unit in self.units])

    @cached_property
    def confidence_sequence(self) -> ConfidenceSequence:
        """Intervals after each complete unit, valid at all looks; of a sequence alone."""
        intervals = assisted_sequence(
            self.judge,
            self.people - self.judge[: self.n_complete],
            bound=bound_of(self.sequence.kind),
            alpha=self.sequence.alpha,
        )
        return intervals.within(*self.limits)

    @cached_property
    def stopped_at(self) -> int | None:
        """The number of units at which it stopped, None while it is open."""
        if self.is_fixed:
            n = self.sequence.n_planned
            return n if self.n_complete >= n else None
        target = self.sequence.target
        stop = decides_order(target) if self.is_order else reaches_half_width(target)
        stopped = stop(self.confidence_sequence)
        return stopped or (self.n_units if self.n_complete == self.n_units else None)

    @property
    def n_used(self) -> int:
        """Units in the estimate: those until the stop."""
        return self.stopped_at or self.n_complete

    @cached_property
    def estimate(self) -> Estimate:
        """The judge's mean plus people's mean error, with the interval at the last look."""
        n, alpha = self.n_used, self.sequence.alpha
        if self.is_fixed:
            if not self.stopped_at:
                return Estimate(None, INCOMPLETE, self.n_complete)
            errors = self.people[:n] - self.judge[:n]
            return finite_mean(self.judge, errors, alpha).within(*self.limits)
        if not n:
            return Estimate(None, NO_LABELS, 0)
        values = (
            self.confidence_sequence.value,
            self.confidence_sequence.lower,
            self.confidence_sequence.upper,
        )
        value, low, high = (float(series[n - 1]) for series in values)
        return Estimate(value, None, n, 0, low, high)

    @property
    def limits(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.is_order else (0.0, 1.0)

    @cached_property
    def for_other_topics(self) -> Estimate:
        """Mean of people's labels alone, with its t interval over topics."""
        if not self.n_used:
            return Estimate(None, NO_LABELS, 0)
        values = self.people[: self.n_used]
        topics = np.array([unit.topic for unit in self.units[: self.n_used]])
        if np.ptp(values) == 0:  # no variance would promise certainty
            return Estimate(float(values[0]), None, len(values), interval_reason=EQUAL_VALUES)
        return clustered_mean(values, topics).estimate().within(*self.limits)

    @cached_property
    def verdict(self) -> str:
        """Decision in words, such as "futile"; "open" before it."""
        if self.stopped_at is None:
            return "open"
        sequence, estimate = self.sequence, self.estimate
        low, high = estimate.low, estimate.high
        if low is None or high is None:
            return "no interval"
        if not self.is_order:
            is_narrow = high - low <= 2 * sequence.target + 1e-9
            return "half-width reached" if is_narrow else "half-width not reached"
        if low > 0:
            return f"{sequence.system} above {sequence.other_system}"
        if high < 0:
            return f"{sequence.other_system} above {sequence.system}"
        if -sequence.target < low and high < sequence.target:
            return f"futile: the difference is smaller than {sequence.target:g}"
        return "not decided"

    @property
    def is_exhausted(self) -> bool:
        return self.stopped_at == self.n_units

    def next_pairs(self, values: set[PairKey]) -> list[PairKey]:
        """Return the pairs that people should grade next, without those that are complete.

        Those of the planned units; a sequence that goes on after these has a quarter of them more.
        """
        if self.stopped_at:
            return []
        planned = self.sequence.n_planned
        n = max(planned, self.n_complete + max(planned // 4, 1)) if not self.is_fixed else planned
        pairs = [
            (pair.text, pair.question)
            for unit in self.units[self.n_complete : n]
            for pair in unit.pairs
        ]
        return [pair for pair in pairs if pair not in values]


def sequence_values(sequence: LabelSequence) -> dict[PairKey, float]:
    """Return people's values of the pairs with as many grades as the sequence needs."""
    dataset: Dataset = sequence.dataset
    return people_values(dataset, sequence.rubric, sequence.eta, sequence.n_people)


def state_of(sequence: LabelSequence, values: dict[PairKey, float] | None = None) -> SequenceState:
    """Return the state of a sequence by the present grades."""
    units = units_of(sequence)
    values = sequence_values(sequence) if values is None else values
    people = []
    for unit in units:
        value = unit.people(values)
        if value is None:
            break
        people.append(value)
    return SequenceState(sequence, units, np.array(people))
