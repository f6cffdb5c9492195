"""Small line charts that the server prints: values at a few steps, as lines on one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluation.charts import SHAPES, svg_number

# Of one chart, in units of its viewBox.
LEFT, RIGHT, TOP, BOTTOM = 34, 376, 30, 176
KEY, LETTER = 46, 6  # of the sign in a key with its gaps, and of a letter of its words
DASHES = ("", "7 4", "2 4")  # so that the shape of a line tells it from the others, not a hue alone

Values = Sequence[float | None]


@dataclass(frozen=True)
class Line:
    """One statistic over the steps. A gap where it is undefined parts it into several `runs` of points."""

    name: str
    key: str
    """Where its key begins, below the chart."""
    dash: str
    shape: str
    runs: tuple[str, ...]
    points: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Step:
    """The column of one step. `says` tells its values in words."""

    of: float | None
    x: str
    left: str
    width: str
    says: str


@dataclass(frozen=True)
class LineChart:
    """Lines of related statistics on one axis. `across` and `up` are what the axes are called."""

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
    """A chart of at most three lines by their names, each with a value for every step, None for none.

    `steps` are what each is of, and how it is said, in columns of equal width; `ticks` those of the axis, which
    goes from the first to the last.
    """
    low, high = ticks[0], ticks[-1]
    column = (RIGHT - LEFT) / len(steps)

    def y(value: float) -> str:
        return svg_number(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))

    drawn = tuple(
        Step(
            of=of,
            x=svg_number(LEFT + column * (place + 0.5)),
            left=svg_number(LEFT + column * place),
            width=svg_number(column),
            says=says,
        )
        for place, (of, says) in enumerate(steps)
    )
    widths = [KEY + LETTER * len(words) for words in lines]
    return LineChart(
        title,
        across,
        up,
        tuple((f"{tick:.1f}".replace("-", "−"), y(tick)) for tick in ticks),
        drawn,
        tuple(
            _line(words, sum(widths[:kind]), kind, drawn, values, y)
            for kind, (words, values) in enumerate(lines.items())
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
        key=svg_number(LEFT + key),
        dash=DASHES[kind],
        shape=SHAPES[kind],
        runs=tuple(
            " ".join(f"{x},{height}" for x, height in filter(None, run))
            for run in runs
            if len(run) > 1
        ),
        points=tuple(point for point in placed if point is not None),
    )
