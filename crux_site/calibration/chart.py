"""The calibration curve as a square that the server prints: expected across, observed up."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.decimals import printed
from crux_site.calibration.page import PROBABILITY
from evaluation.charts import svg_number
from evaluation.stats.calibration import Calibration

LEFT, RIGHT, TOP, BOTTOM = 34.0, 334.0, 12.0, 312.0  # in units of the viewBox


@dataclass(frozen=True)
class CurvePoint:
    """Bin of the calibration curve; `size` grows with its ratings, `label` is its tooltip."""

    x: str
    y: str
    size: str
    label: str


@dataclass(frozen=True)
class Curve:
    """The points, the line through them, and the ticks of both axes: label, across, up.

    `across` and `up` are the titles of the axes.
    """

    points: tuple[CurvePoint, ...]
    line: str
    ticks: tuple[tuple[str, str, str], ...]
    across: str
    up: str


def axis_titles(name: str, calibration: Calibration) -> tuple[str, str]:
    """Return the titles of the axes of a curve, across and up, with their units."""
    if name == PROBABILITY:
        return "judge’s probability of answerable (0 to 1)", "people’s grades, answerable (share)"
    unit = f"{calibration.bins[0].low:g} to {calibration.bins[-1].high:g}"
    return f"expected grade of the judge ({unit})", f"mean grade of people ({unit})"


def curve(name: str, calibration: Calibration) -> Curve:
    """Return the chart of a calibration, with a point for each bin that has ratings."""
    low, high = calibration.bins[0].low, calibration.bins[-1].high
    max_n = max(bucket.n for bucket in calibration.bins) or 1

    def x(value: float) -> str:
        return svg_number(LEFT + (RIGHT - LEFT) * (value - low) / (high - low))

    def y(value: float) -> str:
        return svg_number(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))

    points = tuple(
        CurvePoint(
            x(bucket.expected),
            y(bucket.observed),
            svg_number(3 + 5 * (bucket.n / max_n) ** 0.5),
            f"expected {printed(bucket.expected)}, people {printed(bucket.observed)}, n = {bucket.n}",
        )
        for bucket in calibration.bins
        if bucket.expected is not None and bucket.observed is not None
    )
    is_graded = high - low > 1
    marks = range(int(low), int(high) + 1) if is_graded else [low, (low + high) / 2, high]
    ticks = tuple((f"{mark:g}", x(mark), y(mark)) for mark in marks)
    return Curve(
        points,
        " ".join(f"{point.x},{point.y}" for point in points),
        ticks,
        *axis_titles(name, calibration),
    )
