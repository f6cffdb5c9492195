"""Result page of a sequence: curve of the intervals, sentences for a paper, and the price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from annotation.decimals import printed
from annotation.plurals import n_of
from evaluation.data.campaign_price import Price, price_of
from evaluation.line_charts import LineChart, line_chart
from evaluation.models import LabelSequence
from evaluation.result_tables import ResultTable
from evaluation.sequences.state import SequenceState
from evaluation.stats.estimate import Estimate

MAX_STEPS = 16  # in the chart and on the page
SOURCE = "(Waudby-Smith and Ramdas, 2024)"
TICKS = {True: (-1, -0.5, 0, 0.5, 1), False: (0, 0.2, 0.4, 0.6, 0.8, 1)}
QUANTITIES = {True: "difference of mean coverage", False: "share of answerable pairs"}


@dataclass(frozen=True)
class IntervalStep:
    """Interval after `n` units."""

    n: int
    estimate: Estimate
    is_stop: bool


@dataclass(frozen=True)
class SequencePage:
    """A stored sequence for display."""

    state: SequenceState

    @property
    def sequence(self) -> LabelSequence:
        return self.state.sequence

    @property
    def quantity(self) -> str:
        return QUANTITIES[self.state.is_order]

    @property
    def unit(self) -> str:
        return "topic" if self.state.is_order else "pair"

    @cached_property
    def n_pairs(self) -> int:
        return sum(len(unit.pairs) for unit in self.state.units[: self.sequence.n_planned])

    @property
    def n_grades(self) -> int:
        return self.n_pairs * self.sequence.n_people

    @cached_property
    def price(self) -> Price:
        """Price of the planned units."""
        return price_of(self.sequence.dataset, self.sequence.rubric_id, self.n_grades)

    def intervals(self) -> Iterator[IntervalStep]:
        """Yield the interval of each step; of a fixed draw, one when it is complete."""
        state = self.state
        if state.is_fixed:
            if state.stopped_at:
                yield IntervalStep(state.stopped_at, state.estimate, True)
            return
        series = zip(
            state.confidence_sequence.value,
            state.confidence_sequence.lower,
            state.confidence_sequence.upper,
            strict=True,
        )
        for n, (value, low, high) in enumerate(series, 1):
            estimate = Estimate(float(value), None, n, 0, float(low), float(high))
            yield IntervalStep(n, estimate, n == state.stopped_at)

    @cached_property
    def thinned_intervals(self) -> list[IntervalStep]:
        """At most MAX_STEPS intervals: evenly spaced ones, with the stop and the last."""
        intervals = list(self.intervals())
        gap = -(-len(intervals) // (MAX_STEPS - 2))
        return [
            step
            for step in intervals
            if step.is_stop or step.n == len(intervals) or (gap and step.n % gap == 0)
        ][-MAX_STEPS:]

    @cached_property
    def chart(self) -> LineChart | None:
        """The interval by the number of units; None with fewer than two."""
        intervals = self.thinned_intervals
        if len(intervals) < 2:
            return None
        steps = [(float(step.n), self._tooltip(step)) for step in intervals]
        lines = {
            "estimate": [step.estimate.value for step in intervals],
            "lower end": [step.estimate.low for step in intervals],
            "upper end": [step.estimate.high for step in intervals],
        }
        ticks = TICKS[self.state.is_order]
        low, high = self.state.limits
        lines = {
            name: [None if value is None else min(max(value, low), high) for value in values]
            for name, values in lines.items()
        }
        title = f"Interval by {self.unit}s graded"
        return line_chart(title, steps, lines, ticks, f"{self.unit}s graded", self.quantity)

    def _tooltip(self, step: IntervalStep) -> str:
        estimate = step.estimate
        assert estimate.low is not None
        assert estimate.high is not None
        stop = ", stop" if step.is_stop else ""
        return (
            f"{n_of(step.n, self.unit)}: {printed(estimate.value or 0)} "
            f"[{printed(estimate.low)}, {printed(estimate.high)}]{stop}"
        )

    @property
    def methods(self) -> str:
        return " ".join(self._methods())

    def _methods(self) -> Iterator[str]:
        state, sequence = self.state, self.sequence
        scope = (
            f"{sequence.system} and {sequence.other_system}"
            if state.is_order
            else (sequence.system or "all systems")
        )
        n_people = f"{sequence.n_people} {'person' if sequence.n_people == 1 else 'people'}"
        yield (
            f"We estimated the {self.quantity} of {scope} under the rubric “{sequence.rubric.title}” "
            f"(answerable from grade {sequence.eta}) of these {n_of(state.n_units, self.unit, ',')}. The judge "
            f"{sequence.judge.name} graded all of them; people graded {state.n_used:,} in a random order that "
            f"was fixed before (seed {sequence.seed}), each pair by {n_people}, and corrected the judge’s mean."
        )
        level = f"{1 - sequence.alpha:.0%}"
        if state.is_fixed:
            yield (
                f"The size of the sample, {sequence.n_planned:,}, was fixed before. The {level} interval is "
                "Student’s t with the correction for a finite population."
            )
        else:
            rule = (
                f"0 was excluded, or all differences of {sequence.target:g} or more"
                if state.is_order
                else f"the half-width was {sequence.target:g} or less"
            )
            yield (
                f"The {level} interval is a betting confidence sequence without replacement {SOURCE}, which "
                f"holds however often one looks. The rule was to stop once {rule}."
            )
        estimate = state.estimate
        if estimate.value is not None and estimate.low is not None and estimate.high is not None:
            yield (
                f"Result: {printed(estimate.value)} [{printed(estimate.low)}, {printed(estimate.high)}], "
                f"{state.verdict}."
            )
        if earlier := self.n_earlier:
            yield f"It was sequence {earlier + 1} about this on these data."

    @cached_property
    def n_earlier(self) -> int:
        """Sequences about the same systems that were stored before."""
        sequence = self.sequence
        same = sequence.dataset.label_sequences.filter(
            kind=sequence.kind,
            rubric=sequence.rubric_id,
            judge=sequence.judge_id,
            system=sequence.system,
            other_system=sequence.other_system,
        )
        return same.filter(pk__lt=sequence.pk).count()


def interval_table(page: SequencePage, *, is_short: bool) -> ResultTable:
    """Return the intervals as a table; `is_short`: those of the page."""
    intervals = page.thinned_intervals if is_short else page.intervals()
    rows = (
        [step.n, step.estimate.value, step.estimate.low, step.estimate.high, step.is_stop]
        for step in intervals
    )
    return ResultTable((f"{page.unit}s", "value", "low", "high", "stop"), rows)
