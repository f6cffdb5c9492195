"""Values per topic into geometry: a strip of points a system on one axis, and one run against another.

Strips are drawn in per cent of their width, so that a point is as large on a phone as on a desk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, cos, pi, sin, sqrt

import numpy as np

from evaluation.charts import Axis
from evaluation.retrieval.board import Board
from evaluation.scoring.row_score import RowScore
from evaluation.stats.estimate import Estimate, FloatArray

DRAWN = 60  # with more topics a strip shows quantiles
SCATTERED = 400  # with more topics a run against a run shows counts
TALL = 48  # of a strip, in pixels
APART = 9.5  # between points of one place, in pixels
PILE = 5  # so many stand above each other; more of the same place stand beside them
BIN = 1.4  # per cent of a strip's width that one point takes
STRIP_LEFT, STRIP_RIGHT = 1.5, 98.5  # where its axis begins and ends, in per cent
ASIDE = 0.8  # per cent between those that stand beside each other

# The square of a run against a run, in units of its viewBox.
LEFT, RIGHT, TOP, BOTTOM = 56.0, 388.0, 8.0, 340.0
CELLS = 20


@dataclass(frozen=True)
class Tick:
    label: str
    x: str


@dataclass(frozen=True)
class Point:
    """One topic at a place. `index` is the topic's place in the list of topics."""

    index: int
    x: str
    y: str


@dataclass(frozen=True)
class Quantiles:
    """The 5th, 25th, 50th, 75th and 95th of a hundred parts: as numbers, and as places."""

    numbers: tuple[float, ...]
    places: tuple[str, ...]


@dataclass(frozen=True)
class TopicStrip:
    """One system: a point a topic, or quantiles where there are too many; and the mean."""

    points: tuple[Point, ...]
    quantiles: Quantiles | None
    mean: str | None


@dataclass(frozen=True)
class Square:
    """So many topics in one cell of the plane. `shade` is 1 to 5."""

    n: int
    x: str
    y: str
    size: str
    shade: int


@dataclass(frozen=True)
class Scatter:
    """One run against another: a point a topic, or squares where there are too many."""

    points: tuple[Point, ...]
    squares: tuple[Square, ...]
    ticks: tuple[tuple[str, str, str], ...]
    """Label, place across, place down."""


def value_axis(*values: FloatArray) -> Axis:
    """0 to 1, or on to the next quarter where a value is beyond it."""
    known = [column[~np.isnan(column)] for column in values]
    most = max((float(column.max()) for column in known if len(column)), default=1.0)
    return (0.0, max(1.0, ceil(round(4 * most, 9)) / 4))


def estimate_axis(estimates: Iterable[Estimate]) -> Axis:
    """The same, for values with their intervals."""
    ends = [
        end for estimate in estimates for end in (estimate.value, estimate.high) if end is not None
    ]
    return value_axis(np.array(ends, dtype=np.float64))


def strip_ticks(axis: Axis) -> tuple[Tick, ...]:
    """Every quarter of 1, named at its place; the ends of a long axis are named alone."""
    quarters = round(4 * axis[1])
    named = 1 if quarters <= 6 else 4
    return tuple(
        Tick(
            f"{quarter / 4:.2f}".rstrip("0").rstrip(".") if quarter % named == 0 else "",
            _across(quarter / 4, axis),
        )
        for quarter in range(quarters + 1)
    )


def topic_strip(values: FloatArray, axis: Axis) -> TopicStrip:
    """Places of one system's values, one per topic, NaN where it has none."""
    known = values[~np.isnan(values)]
    mean = _across(float(known.mean()), axis) if len(known) else None
    if len(values) > DRAWN:
        cuts = np.quantile(known, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist() if len(known) else []
        drawn = Quantiles(tuple(cuts), tuple(_across(cut, axis) for cut in cuts)) if cuts else None
        return TopicStrip((), drawn, mean)
    piles: dict[int, list[int]] = defaultdict(list)
    for index in np.argsort(values, kind="stable").tolist():
        if not np.isnan(values[index]):
            piles[round(_share(values[index], axis) * 100 / BIN)].append(index)
    points = (_pile(pile, values, axis) for pile in piles.values())
    return TopicStrip(tuple(chain.from_iterable(points)), None, mean)


def scatter(a: FloatArray, b: FloatArray, axis: Axis) -> Scatter:
    """`a` across and `b` up, of the topics that both have."""
    both = np.flatnonzero(~(np.isnan(a) | np.isnan(b)))
    quarters = round(4 * axis[1])
    marks = [quarter / 4 for quarter in range(0, quarters + 1, 1 if quarters <= 6 else 4)]
    ticks = tuple(
        (f"{mark:.2f}".rstrip("0").rstrip("."), _n(_x(mark, axis)), _n(_y(mark, axis)))
        for mark in marks
    )
    if len(both) > SCATTERED:
        return Scatter((), _squares(a[both], b[both], axis), ticks)
    spots: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index in both.tolist():
        spots[round(_x(a[index], axis)), round(_y(b[index], axis))].append(index)
    points = tuple(
        Point(index, _n(_x(a[index], axis) + dx), _n(_y(b[index], axis) + dy))
        for spot in spots.values()
        for index, (dx, dy) in zip(spot, _fan(len(spot)), strict=True)
    )
    return Scatter(points, (), ticks)


def shade(value: float | None) -> int:
    """0 to 5 for a share from 0 to 1; nothing for what is below 0 or undefined."""
    return 0 if value is None else min(max(round(5 * value), 0), 5)


def _pile(pile: Sequence[int], values: FloatArray, axis: Axis) -> list[Point]:
    """Topics of one place: above each other, and then beside, towards the middle of the strip."""
    points = []
    for number, index in enumerate(pile):
        column, place = divmod(number, PILE)
        height = min(len(pile) - column * PILE, PILE)
        share = _share(float(values[index]), axis)
        aside = column * ASIDE * (-1 if share > 0.5 else 1)
        y = TALL / 2 + (place - (height - 1) / 2) * APART
        points.append(Point(index, f"{_n(_per_cent(share) + aside)}%", _n(y)))
    return points


def _squares(a: FloatArray, b: FloatArray, axis: Axis) -> tuple[Square, ...]:
    counts, _, _ = np.histogram2d(a, b, bins=CELLS, range=[axis, axis])
    size, most = (RIGHT - LEFT) / CELLS, counts.max(initial=1)
    return tuple(
        Square(
            int(counts[across, up]),
            _n(LEFT + across * size),
            _n(BOTTOM - (up + 1) * size),
            _n(size),
            ceil(5 * sqrt(counts[across, up] / most)),
        )
        for across, up in np.argwhere(counts > 0).tolist()
    )


def _fan(n: int) -> Sequence[tuple[float, float]]:
    """Places round one spot, so that topics with the same values do not hide each other."""
    if n == 1:
        return [(0.0, 0.0)]
    reach = max(5.0, 1.6 * n)
    return [
        (reach * cos(2 * pi * index / n), reach * sin(2 * pi * index / n)) for index in range(n)
    ]


def _share(value: float, axis: Axis) -> float:
    low, high = axis
    return (min(max(value, low), high) - low) / (high - low)


def _across(value: float, axis: Axis) -> str:
    return f"{_n(_per_cent(_share(value, axis)))}%"


def _per_cent(share: float) -> float:
    return STRIP_LEFT + (STRIP_RIGHT - STRIP_LEFT) * share


def _x(value: float, axis: Axis) -> float:
    return LEFT + (RIGHT - LEFT) * _share(value, axis)


def _y(value: float, axis: Axis) -> float:
    return BOTTOM - (BOTTOM - TOP) * _share(value, axis)


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class TopicValue:
    """One system on one topic: None where undefined, and `has` False where it is none of its own."""

    key: int
    topic: str
    value: float | None
    reason: str
    has: bool


@dataclass(frozen=True)
class StripRow:
    """One system. `values` has every topic where points are drawn, and none where quantiles are."""

    row: RowScore
    mean: Estimate
    strip: TopicStrip
    values: tuple[TopicValue, ...]

    @property
    def points(self) -> list[tuple[Point, TopicValue]]:
        return [(point, self.values[point.index]) for point in self.strip.points]


@dataclass(frozen=True)
class Strips:
    axis: Axis
    ticks: tuple[Tick, ...]
    rows: tuple[StripRow, ...]
    topics: tuple[tuple[int, str], ...]
    is_drawn: bool
    """Whether each topic is a point."""

    @property
    def by_topic(self) -> list[tuple[str, list[tuple[StripRow, TopicValue]]]]:
        """The same values as lines of a table: a topic, and each system on it."""
        return [
            (topic, [(row, row.values[index]) for row in self.rows])
            for index, (_, topic) in enumerate(self.topics)
        ]


def strips(board: Board, systems: Sequence[RowScore], metric: str) -> Strips:
    """The strips of these systems, from the highest mean to the lowest, undefined ones last."""
    axis = value_axis(*(row.of(metric) for row in systems))
    is_drawn = len(board.topics) <= DRAWN
    ordered = sorted(
        systems,
        key=lambda row: (
            row.means[metric].value is None,
            -(row.means[metric].value or 0),
            row.name,
        ),
    )
    return Strips(
        axis,
        strip_ticks(axis),
        tuple(
            StripRow(
                row,
                row.means[metric],
                topic_strip(row.of(metric), axis),
                topic_values(board, row, metric) if is_drawn else (),
            )
            for row in ordered
        ),
        tuple(zip(board.keys, board.topics, strict=True)) if is_drawn else (),
        is_drawn,
    )


def topic_values(board: Board, row: RowScore, metric: str) -> tuple[TopicValue, ...]:
    """The metric of one system on every topic, in the order of the dataset."""
    return tuple(
        TopicValue(
            key,
            topic,
            None if np.isnan(value) else value,
            row.reason(metric, index).removeprefix("undefined, because "),
            bool(row.has[index]),
        )
        for index, (key, topic, value) in enumerate(
            zip(board.keys, board.topics, row.of(metric).tolist(), strict=True)
        )
    )
