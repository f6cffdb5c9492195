"""Explore pages: interactive figures for plotly.js, above tables of their values.

Features that the content security policy forbids are not used: colour bars, the buttons above a figure,
and heat maps without gaps between their cells set style attributes. Colours come from the page: `meta` of
a trace is the custom property of its colour.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.decimals import printed
from annotation.models import Dataset
from evaluation.plotly_file import URL, style_ids
from evaluation.stats.estimate import Estimate

Json = dict[str, Any]
INK = "--ink"
PANEL_GAP = 104  # between two panels, in pixels: ticks, title of an axis, title of the next panel
# Signs of raters by their marks, like the outlines in evaluation.charts.
SYMBOLS = (
    "circle-open",
    "square-open",
    "triangle-up",
    "diamond-open",
    "triangle-down",
    "cross-open",
    "hexagon",
)


@dataclass(frozen=True)
class Cell:
    """Cell of the table below a figure, sorted by its value.

    `url` of the first cell leads to the rows that the others count. An undefined value has a reason.
    """

    text: str
    value: float | None = None
    note: str = ""
    url: str = ""
    reason: str = ""


@dataclass(frozen=True)
class FigureTable:
    """Values of a figure as a table, whose first `n_texts` columns are no numbers.

    `name` is its id, and stands for it in the URL of its order.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    n_texts: int = 1


@dataclass(frozen=True)
class ExplorePage:
    """Interactive figure of a result page. `empty` says why there is no figure."""

    title: str
    file_name: str
    back_url: str
    back_title: str
    summary: str = ""
    figure: Json | None = None
    tables: tuple[FigureTable, ...] = ()
    point_target: str = ""
    """Page that a click on a point opens, such as "the pairs of the report"."""
    empty: str = ""


@dataclass(frozen=True)
class Panel:
    """Plot area with axes of its own, above or below others. `height` is in pixels."""

    title: str
    traces: Sequence[Any]
    x: Json
    y: Json
    height: int
    shapes: Sequence[Json] = ()


def render_figure(
    request: HttpRequest,
    dataset: Dataset,
    explore: ExplorePage,
    /,
    template: str = "evaluation/figure.html",
    **context: Any,
) -> HttpResponse:
    """Render an Explore page: only these load plotly.js.

    `context` has the `selection` or the `options` that links to other pages carry.
    """
    figure_context = {
        "room": "datasets",
        "dataset": dataset,
        "explore": explore,
        "plotly": URL,
        "style_ids": style_ids(),
        "selection": None,
        "options": None,
    }
    return render(request, template, figure_context | context)


def plotly_figure(traces: Sequence[Any], **layout: Any) -> Json:
    """Return a figure as JSON, with the margins that all figures have."""
    margin = {"t": 20, "r": 20, "b": 60, "l": 20, **layout.pop("margin", {})}
    figure = go.Figure(traces)
    figure.update_layout(template="none", margin=margin, hovermode="closest", **layout)
    figure_json: Json = json.loads(figure.to_json())
    return figure_json


def stacked_panels(panels: Sequence[Panel]) -> Json:
    """Return a figure of panels below each other, with one legend above them."""
    total = sum(panel.height for panel in panels) + PANEL_GAP * (len(panels) - 1)
    layout: Json = {"annotations": [], "shapes": []}
    traces: list[Any] = []
    top = 1.0
    for index, panel in enumerate(panels):
        suffix = str(index + 1) if index else ""
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        traces += [trace.update(**axes) for trace in panel.traces]
        bottom = max(top - panel.height / total, 0.0)
        layout[f"xaxis{suffix}"] = panel.x | {"anchor": axes["yaxis"]}
        layout[f"yaxis{suffix}"] = panel.y | {"anchor": axes["xaxis"], "domain": [bottom, top]}
        layout["shapes"] += [
            shape | {"xref": axes["xaxis"], "yref": axes["yaxis"]} for shape in panel.shapes
        ]
        layout["annotations"].append(
            {
                "text": panel.title,
                "font": {"weight": "bold"},  # not <b>, which plotly.js sets as a style attribute
                "x": 0,
                "xref": "paper",
                "xanchor": "left",
                "y": top,
                "yref": "paper",
                "yanchor": "bottom",
                "yshift": 6,
                "showarrow": False,
            }
        )
        top = bottom - PANEL_GAP / total
    legend = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 1 + 32 / total,
        "yanchor": "bottom",
    }
    return plotly_figure(
        traces,
        showlegend=True,
        legend=legend,
        height=total + 140,
        margin={"t": 70, "b": 70, "l": 70},
        **layout,
    )


def mean_marker(x: list[float], y: list[float], label: str, **bars: Json) -> go.Scatter:
    """Return the marker of a mean, in the colour of text."""
    return go.Scatter(
        x=x,
        y=y,
        text=[label],
        mode="markers",
        meta=INK,
        marker={"size": 12, "symbol": "diamond-open", "line": {"width": 2.5}},
        showlegend=False,
        hovertemplate="%{text}<extra></extra>",
        **bars,
    )


def interval_bars(estimates: Sequence[Estimate]) -> Json:
    """Return the error bars of a trace: the interval of each estimate that has one."""
    if all(estimate.low is None for estimate in estimates):
        return {"visible": False}
    above = [(estimate.value or 0.0, estimate.high) for estimate in estimates]
    below = [(estimate.value or 0.0, estimate.low) for estimate in estimates]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if high is None else high - value for value, high in above],
        "arrayminus": [0.0 if low is None else value - low for value, low in below],
        "thickness": 2,
        "width": 6,
    }


def format_estimate(estimate: Estimate, decimal_places: int = 4) -> str:
    """Format a value with its interval and n, for the label of a point."""
    if estimate.value is None:
        return estimate.reason or "undefined"
    limits = (
        f", 95% interval {printed(estimate.low, decimal_places)}"
        f" to {printed(estimate.high, decimal_places)}"
        if estimate.low is not None and estimate.high is not None
        else ""
    )
    return f"{printed(estimate.value, decimal_places)}{limits}, n = {estimate.n}"


def estimate_cell(estimate: Estimate, decimal_places: int = 2, *, with_n: bool = True) -> Cell:
    """Return the cell of an estimate, with its interval, n, and reason if it is undefined."""
    if estimate.value is None:
        return Cell("", reason=estimate.reason or "")
    notes = []
    if estimate.low is not None and estimate.high is not None:
        ends = (printed(end, decimal_places) for end in (estimate.low, estimate.high))
        notes.append(f"[{', '.join(ends)}]")
    if with_n:
        notes.append(f"n = {estimate.n}")
    return Cell(printed(estimate.value, decimal_places), estimate.value, ", ".join(notes))


def count_cell(n: int) -> Cell:
    """Return the cell of a count."""
    return Cell(f"{n:,}", n)
