"""Geometry of charts of values per topic: strip plots, and scatter plots of two runs.

Strips are drawn in per cent of their width, so that a point is as large on a phone as on a desk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, cos, pi, sin, sqrt

import numpy as np

from evaluation.charts import Axis
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.scoring.row_score import RowScore
from evaluation.stats.estimate import Estimate, FloatArray

MAX_POINTS = 60  # with more topics a strip shows quantiles
SCATTERED = 400  # with more topics a scatter plot shows counts
STRIP_HEIGHT = 48  # of a strip, in pixels
POINT_SPACING = 9.5  # between stacked points, in pixels
PILE = 5  # points in a stack; more of the same value stand beside them
BIN = 1.4  # per cent of a strip's width that one point takes
STRIP_LEFT, STRIP_RIGHT = 1.5, 98.5  # where its axis begins and ends, in per cent
COLUMN_SPACING = 0.8  # per cent between stacks

# The plot area of a scatter plot, in units of its viewBox.
PLOT_LEFT, RIGHT, TOP, BOTTOM = 56.0, 388.0, 8.0, 340.0
CELLS = 20


@dataclass(frozen=True)
class Tick:
    label: str
    x: str


@dataclass(frozen=True)
class Point:
    """Position of a topic. `index` is the topic's index in the list of topics."""

    index: int
    x: str
    y: str


@dataclass(frozen=True)
class Quantiles:
    """The 5th, 25th, 50th, 75th and 95th percentile: as numbers, and as positions."""

    numbers: tuple[float, ...]
    places: tuple[str, ...]


@dataclass(frozen=True)
class TopicStrip:
    """Strip of one system: points of topics, or quantiles of many topics; and the mean."""

    points: tuple[Point, ...]
    quantiles: Quantiles | None
    mean: str | None


@dataclass(frozen=True)
class Square:
    """Number of topics in one cell of the plane. `shade` is 1 to 5."""

    n: int
    x: str
    y: str
    size: str
    shade: int


@dataclass(frozen=True)
class Scatter:
    """Scatter plot of two runs: points of topics, or squares where there are too many."""

    points: tuple[Point, ...]
    squares: tuple[Square, ...]
    ticks: tuple[tuple[str, str, str], ...]
    """Label, place across, place down."""


def value_axis(*values: FloatArray) -> Axis:
    """Return 0 to 1, or on to the next quarter where a value is beyond it."""
    defined = [column[~np.isnan(column)] for column in values]
    largest = max((float(column.max()) for column in defined if len(column)), default=1.0)
    return (0.0, max(1.0, ceil(round(4 * largest, 9)) / 4))


def strip_ticks(axis: Axis) -> tuple[Tick, ...]:
    """Return ticks at quarters of 1; on a long axis the whole numbers alone have labels."""
    quarters = round(4 * axis[1])
    label_step = 1 if quarters <= 6 else 4
    return tuple(
        Tick(
            f"{quarter / 4:.2f}".rstrip("0").rstrip(".") if quarter % label_step == 0 else "",
            _across(quarter / 4, axis),
        )
        for quarter in range(quarters + 1)
    )


def topic_strip(values: FloatArray, axis: Axis) -> TopicStrip:
    """Return the positions of one system's values, one per topic, NaN where it has none."""
    defined = values[~np.isnan(values)]
    mean = _across(float(defined.mean()), axis) if len(defined) else None
    if len(values) > MAX_POINTS:
        cuts = np.quantile(defined, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist() if len(defined) else []
        quantiles = (
            Quantiles(tuple(cuts), tuple(_across(cut, axis) for cut in cuts)) if cuts else None
        )
        return TopicStrip((), quantiles, mean)
    piles: dict[int, list[int]] = defaultdict(list)
    for index in np.argsort(values, kind="stable").tolist():
        if not np.isnan(values[index]):
            piles[round(_share(values[index], axis) * 100 / BIN)].append(index)
    points = (_pile(pile, values, axis) for pile in piles.values())
    return TopicStrip(tuple(chain.from_iterable(points)), None, mean)


def scatter(a: FloatArray, b: FloatArray, axis: Axis) -> Scatter:
    """Return the scatter plot of `a` across and `b` up, of the topics that both have."""
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
    """Return 0 to 5 for a share from 0 to 1; 0 for a negative or undefined one."""
    return 0 if value is None else min(max(round(5 * value), 0), 5)


def _pile(pile: Sequence[int], values: FloatArray, axis: Axis) -> list[Point]:
    """Return points of equal values, stacked, and then beside, towards the strip's middle."""
    points = []
    for number, index in enumerate(pile):
        column, position = divmod(number, PILE)
        height = min(len(pile) - column * PILE, PILE)
        share = _share(float(values[index]), axis)
        offset = column * COLUMN_SPACING * (-1 if share > 0.5 else 1)
        y = STRIP_HEIGHT / 2 + (position - (height - 1) / 2) * POINT_SPACING
        points.append(Point(index, f"{_n(_per_cent(share) + offset)}%", _n(y)))
    return points


def _squares(a: FloatArray, b: FloatArray, axis: Axis) -> tuple[Square, ...]:
    counts, _, _ = np.histogram2d(a, b, bins=CELLS, range=[axis, axis])
    size, largest = (RIGHT - PLOT_LEFT) / CELLS, counts.max(initial=1)
    return tuple(
        Square(
            int(counts[across, up]),
            _n(PLOT_LEFT + across * size),
            _n(BOTTOM - (up + 1) * size),
            _n(size),
            ceil(5 * sqrt(counts[across, up] / largest)),
        )
        for across, up in np.argwhere(counts > 0).tolist()
    )


def _fan(n: int) -> Sequence[tuple[float, float]]:
    """Return offsets round one position, so that topics with equal values do not overlap."""
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
    return PLOT_LEFT + (RIGHT - PLOT_LEFT) * _share(value, axis)


def _y(value: float, axis: Axis) -> float:
    return BOTTOM - (BOTTOM - TOP) * _share(value, axis)


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class TopicValue:
    """Value of one system on one topic: None where undefined.

    `has` is False where the topic is none of the system's own.
    """

    key: int
    topic: str
    value: float | None
    reason: str
    has: bool


@dataclass(frozen=True)
class StripRow:
    """Strip of one system. `values` has all topics where points are drawn, else none."""

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
    """True if each topic is a point."""

    @property
    def by_topic(self) -> list[tuple[str, list[tuple[StripRow, TopicValue]]]]:
        """Table rows of the same values: a topic, and each system on it."""
        return [
            (topic, [(row, row.values[index]) for row in self.rows])
            for index, (_, topic) in enumerate(self.topics)
        ]


def strips(board: Leaderboard, systems: Sequence[RowScore], metric: str) -> Strips:
    """Return the strips of these systems, by mean from high to low, undefined ones last."""
    axis = value_axis(*(row.of(metric) for row in systems))
    has_points = len(board.topics) <= MAX_POINTS
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
                topic_values(board, row, metric) if has_points else (),
            )
            for row in ordered
        ),
        tuple(zip(board.keys, board.topics, strict=True)) if has_points else (),
        has_points,
    )


def topic_values(board: Leaderboard, row: RowScore, metric: str) -> tuple[TopicValue, ...]:
    """Return the metric of one system on each topic, in the order of the dataset."""
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
