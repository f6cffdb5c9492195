"""The calibration curve as a square that the server prints: expected across, observed up."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.decimals import printed
from evaluation.charts import svg_number
from evaluation.stats.calibration import Calibration

LEFT, RIGHT, TOP, BOTTOM = 34.0, 334.0, 12.0, 312.0  # in units of the viewBox


@dataclass(frozen=True)
class CurvePoint:
    """One bin. `says` tells it in words; `size` grows with the ratings in it."""

    x: str
    y: str
    size: str
    says: str


@dataclass(frozen=True)
class Curve:
    """The points, the line through them, and the ticks of both axes: label, across, up."""

    points: tuple[CurvePoint, ...]
    line: str
    ticks: tuple[tuple[str, str, str], ...]


def curve(made: Calibration) -> Curve:
    """Places of a calibration's bins that hold any rating."""
    low, high = made.bins[0].low, made.bins[-1].high
    most = max(part.n for part in made.bins) or 1

    def x(value: float) -> str:
        return svg_number(LEFT + (RIGHT - LEFT) * (value - low) / (high - low))

    def y(value: float) -> str:
        return svg_number(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))

    points = tuple(
        CurvePoint(
            x(part.expected),
            y(part.observed),
            svg_number(3 + 5 * (part.n / most) ** 0.5),
            f"expected {printed(part.expected)}, people {printed(part.observed)}, n = {part.n}",
        )
        for part in made.bins
        if part.expected is not None and part.observed is not None
    )
    whole = high - low > 1
    marks = range(int(low), int(high) + 1) if whole else [low, (low + high) / 2, high]
    ticks = tuple((f"{mark:g}", x(mark), y(mark)) for mark in marks)
    return Curve(points, " ".join(f"{point.x},{point.y}" for point in points), ticks)
