"""Geometry of charts that the server draws as SVG; their style is in the stylesheet."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

Axis = tuple[float, float]

# The drawing of an interval, and the panel of one system, in units of their viewBoxes.
STRIP_LEFT, STRIP_RIGHT = 4, 156

# An outline for each rater, so that colour is never the only sign: its start from its centre, and its steps.
SHAPES: tuple[tuple[float, float, str], ...] = (
    (-3.6, 0, "a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z"),  # disc
    (-3.2, -3.2, "h6.4v6.4h-6.4z"),  # square
    (0, -3.8, "l3.8 6.6h-7.6z"),  # triangle
    (0, -4.4, "l4.4 4.4l-4.4 4.4l-4.4 -4.4z"),  # diamond
    (0, 3.8, "l3.8 -6.6h-7.6z"),  # triangle, point down
    (-1.3, -4, "h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7z"),  # cross
    (-3.6, -1.8, "l3.6 -2.2l3.6 2.2v3.6l-3.6 2.2l-3.6 -2.2z"),  # hexagon
)


@dataclass(frozen=True)
class Strip:
    """Estimate on an axis: positions of its value and interval, None where it has none."""

    ticks: tuple[tuple[str, int], ...]
    value: str | None
    low: str | None
    high: str | None


def axis_of(*estimates: Estimate) -> Axis:
    """Return 0 to 1 where that holds every estimate and interval, else -1 to 1."""
    ends = [
        end for estimate in estimates for end in (estimate.value, estimate.low) if end is not None
    ]
    return (-1.0, 1.0) if min(ends, default=0.0) < 0 else (0.0, 1.0)


def strip(estimate: Estimate, axis: Axis = (0.0, 1.0)) -> Strip:
    """Return the positions of an estimate on its axis; an interval is clipped to the axis."""
    low, high = axis

    def x_position(value: float | None) -> str | None:
        if value is None:
            return None
        share = (min(max(value, low), high) - low) / (high - low)
        return svg_number(STRIP_LEFT + (STRIP_RIGHT - STRIP_LEFT) * share)

    quarters = (STRIP_RIGHT - STRIP_LEFT) / 4
    ends = (0, 4) if low == 0 else (0, 2, 4)
    ticks = tuple(
        (svg_number(STRIP_LEFT + quarters * tick), 10 if tick in ends else 12) for tick in range(5)
    )
    return Strip(
        ticks, x_position(estimate.value), x_position(estimate.low), x_position(estimate.high)
    )


def shape(mark: int, x: float = 0, y: float = 0) -> str:
    """Return the path of a rater's mark around a position."""
    start_x, start_y, steps = SHAPES[(mark - 1) % len(SHAPES)]
    return f"M{svg_number(x + start_x)} {svg_number(y + start_y)}{steps}"


def svg_number(number: float) -> str:
    """Format a coordinate of a drawing: a tenth of a unit is as fine as it gets."""
    return f"{number:.1f}".removesuffix(".0")
