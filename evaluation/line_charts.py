"""Geometry of small SVG line charts: values at a few steps, as lines on one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluation.charts import shape, svg_number

# Plot area of a chart, in units of its viewBox.
PLOT_LEFT, RIGHT, TOP, BOTTOM = 34, 376, 30, 176
KEY, LETTER = 46, 6  # widths of a legend sign with its gaps, and of a letter
DASHES = ("", "7 4", "2 4")  # so that lines differ not in hue alone

Values = Sequence[float | None]


@dataclass(frozen=True)
class Line:
    """Line of one statistic over the steps.

    A gap where it is undefined divides it into several `runs` of points.
    """

    name: str
    key: str
    """Left edge of its legend entry, below the chart."""
    dash: str
    shape: str
    runs: tuple[str, ...]
    points: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Step:
    """Column of one step. `says` is its tooltip with the values."""

    of: float | None
    x: str
    left: str
    width: str
    says: str


@dataclass(frozen=True)
class LineChart:
    """Lines of related statistics on one axis. `across` and `up` are the titles of the axes."""

    title: str
    across: str
    up: str
    grid: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    lines: tuple[Line, ...]


def line_chart(
    title: str,
    steps: Sequence[tuple[float | None, str]],
    lines: Mapping[str, Values],
    ticks: Sequence[float],
    across: str,
    up: str,
) -> LineChart:
    """Return a chart of at most three named lines, each with a value or None for each step.

    `steps` are pairs of a value and its tooltip, in columns of equal width; `ticks` those of the axis, which
    goes from the first to the last.
    """
    low, high = ticks[0], ticks[-1]
    column = (RIGHT - PLOT_LEFT) / len(steps)

    def y(value: float) -> str:
        return svg_number(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))

    chart_steps = tuple(
        Step(
            of=of,
            x=svg_number(PLOT_LEFT + column * (column_index + 0.5)),
            left=svg_number(PLOT_LEFT + column * column_index),
            width=svg_number(column),
            says=tooltip,
        )
        for column_index, (of, tooltip) in enumerate(steps)
    )
    widths = [KEY + LETTER * len(name) for name in lines]
    return LineChart(
        title,
        across,
        up,
        tuple((f"{tick:.1f}".replace("-", "−"), y(tick)) for tick in ticks),
        chart_steps,
        tuple(
            _line(name, sum(widths[:kind]), kind, chart_steps, values, y)
            for kind, (name, values) in enumerate(lines.items())
        ),
    )


def _line(
    name: str,
    key: float,
    kind: int,
    steps: Sequence[Step],
    values: Values,
    y: Callable[[float], str],
) -> Line:
    placed = [
        None if value is None else (step.x, y(value))
        for step, value in zip(steps, values, strict=True)
    ]
    gaps = [-1, *(index for index, point in enumerate(placed) if point is None), len(placed)]
    runs = [placed[start + 1 : end] for start, end in pairwise(gaps)]
    return Line(
        name=name,
        key=svg_number(PLOT_LEFT + key),
        dash=DASHES[kind],
        shape=shape(kind + 1),
        runs=tuple(
            " ".join(f"{x},{height}" for x, height in filter(None, run))
            for run in runs
            if len(run) > 1
        ),
        points=tuple(point for point in placed if point is not None),
    )
