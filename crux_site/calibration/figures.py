"""Interactive figure of calibration: the curves of a judge, with the n of their bins."""

from __future__ import annotations

import plotly.graph_objects as go
from django.urls import reverse

from annotation.decimals import printed
from crux_site.calibration.chart import axis_titles
from crux_site.calibration.page import TITLES, JudgeCalibration, no_curve
from evaluation.data.selection import Selection
from evaluation.figures import (
    INK,
    Cell,
    ExplorePage,
    FigureTable,
    Json,
    Panel,
    count_cell,
    format_estimate,
    stacked_panels,
)
from evaluation.stats.calibration import Bin, Calibration


def calibration_page(selection: Selection, result: JudgeCalibration | None) -> ExplorePage:
    """Return the curves of the judge, or the reason why there is none."""
    empty = no_curve(selection, result)
    curves = result.curves if result and not empty else {}
    judge = f": {selection.judge.title}" if selection.judge else ""
    return ExplorePage(
        title=f"Calibration{judge}",
        file_name=f"{selection.dataset.slug}-calibration",
        back_url=f"{reverse('calibration', args=[selection.dataset.slug])}?{selection.query()}",
        back_title="Calibration",
        summary=" ".join(_errors(name, part) for name, part in curves.items()),
        figure=calibration_figure(curves) if curves else None,
        tables=tuple(_bins_table(name, part) for name, part in curves.items()),
        empty=empty,
    )


def _errors(name: str, part: Calibration) -> str:
    return (
        f"{TITLES[name]}: expected calibration error {format_estimate(part.error, 2)};"
        f" debiased {format_estimate(part.debiased, 2)}."
    )


def calibration_figure(curves: dict[str, Calibration]) -> Json:
    """Return a point for each bin with ratings, in a panel for each curve, over the diagonal."""
    return stacked_panels([_curve_panel(name, part) for name, part in curves.items()])


def _curve_panel(name: str, part: Calibration) -> Panel:
    low, high = part.bins[0].low, part.bins[-1].high
    max_n = max(bucket.n for bucket in part.bins) or 1
    margin = 0.06 * (high - low)
    across, up = axis_titles(name, part)
    bins = [bucket for bucket in part.bins if bucket.n]
    points = go.Scatter(
        x=[bucket.expected for bucket in bins],
        y=[bucket.observed for bucket in bins],
        text=[f"n = {bucket.n}" for bucket in bins],
        # On either side of the line in turn, so that bins close to each other have room.
        textposition=["bottom right" if index % 2 else "top left" for index in range(len(bins))],
        hovertext=[_label(bucket) for bucket in bins],
        mode="lines+markers+text",
        meta=INK,
        line={"width": 2},
        marker={"size": [7 + 10 * (bucket.n / max_n) ** 0.5 for bucket in bins]},
        showlegend=False,
        hovertemplate="%{hovertext}<extra></extra>",
    )
    limits = [low - margin, high + margin]
    return Panel(
        TITLES[name],
        [points],
        x={"title": {"text": across}, "range": limits},
        y={"title": {"text": up}, "range": limits},
        height=380,
        shapes=[
            {
                "type": "line",
                "x0": low,
                "y0": low,
                "x1": high,
                "y1": high,
                "line": {"dash": "dash"},
                "layer": "below",
            }
        ],
    )


def _label(bucket: Bin) -> str:
    return (
        f"judge {_limits(bucket)}<br>mean of the judge {_mean(bucket.expected, 4)}"
        f"<br>people {_mean(bucket.observed, 4)}<br>n = {bucket.n} ratings"
    )


def _limits(bucket: Bin) -> str:
    return f"{printed(bucket.low)} to {printed(bucket.high)}"


def _mean(value: float | None, decimal_places: int = 2) -> str:
    return "no rating" if value is None else printed(value, decimal_places)


def _bins_table(name: str, part: Calibration) -> FigureTable:
    return FigureTable(
        name=name,
        caption=f"{TITLES[name]} as a table",
        note="Each rating counts once.",
        columns=("Judge", "n", "mean of the judge", "people"),
        rows=tuple(
            (
                Cell(_limits(bucket)),
                count_cell(bucket.n),
                Cell(_mean(bucket.expected), bucket.expected),
                Cell(_mean(bucket.observed), bucket.observed),
            )
            for bucket in part.bins
        ),
    )
