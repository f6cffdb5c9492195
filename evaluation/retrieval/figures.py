"""Interactive figures of systems, with the same numbers as the pages' drawings."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from annotation.decimals import printed
from evaluation.charts import Axis
from evaluation.figures import (
    Json,
    format_estimate,
    interval_bars,
    mean_marker,
    plotly_figure,
)
from evaluation.metrics.ranges import highest
from evaluation.retrieval.charts import (
    BOTTOM,
    PLOT_LEFT,
    RIGHT,
    STRIP_HEIGHT,
    STRIP_LEFT,
    STRIP_RIGHT,
    TOP,
    StripRow,
    Strips,
    scatter,
    value_axis,
)
from evaluation.retrieval.compare import Comparison
from evaluation.retrieval.differences import mean_difference
from evaluation.retrieval.query import RetrievalQuery
from evaluation.retrieval.rankings import Taus
from evaluation.retrieval.tags import matrix_url

ROW = 72  # of a system in the figure of topics, in pixels
POINT_TARGET = "the topic’s rating matrix"
NO_FIGURE = (
    "The figure is empty: fewer than two systems have a value with these grades. "
    "Go back and choose other grades."
)
FIGURES = {
    "metrics": "Kendall’s τ between metrics",
    "topics": "Values of each topic by system",
    "compare": "Pairwise comparison of systems",
}


def metrics_figure(metric_taus: Taus, choice: RetrievalQuery) -> Json:
    """Return Figure 5 of the paper: a heat map of taus."""
    names = [choice.titles[metric] for metric in metric_taus.metrics]
    heat = go.Heatmap(
        z=[[tau.value for tau in row] for row in metric_taus.rows],
        x=names,
        y=names,
        zmin=0,
        zmax=1,
        xgap=2,
        ygap=2,
        showscale=False,
        text=_format_taus(metric_taus, 2),
        customdata=_format_taus(metric_taus, 4),
        texttemplate="%{text}",
        hovertemplate="%{y} and %{x}: τ-b %{customdata}, n = "
        + f"{metric_taus.n_systems} systems<extra></extra>",
        hoverongaps=False,
    )
    plain = {"showgrid": False, "title": {"text": "metric"}}
    return plotly_figure(
        [heat], xaxis=plain, yaxis=plain | {"autorange": "reversed"}, margin={"l": 90}
    )


def _format_taus(metric_taus: Taus, decimal_places: int) -> list[list[str]]:
    """Return the printed values of tau; empty where undefined."""
    return [
        ["" if tau.value is None else printed(tau.value, decimal_places) for tau in row]
        for row in metric_taus.rows
    ]


def topics_figure(strips: Strips, choice: RetrievalQuery) -> Json:
    """Return a point for each topic of each system, or boxes of quantiles for many topics.

    Points stand where the drawing of the page has them, so that equal ones do not hide each other, and
    over the mean. Names
    stand above their strips: beside them a phone would have no room for the points.
    """
    title = choice.metric_title
    rows = list(reversed(strips.rows))
    traces: list[Any] = []
    for position, row in enumerate(rows):
        if row.mean.value is not None:
            label = f"mean {format_estimate(row.mean)}"
            traces.append(
                mean_marker([row.mean.value], [position], label, error_x=interval_bars([row.mean]))
            )
        cut = row.strip.quantiles
        if cut:
            traces.append(_box(row.row.title, position, *cut.numbers))
        elif row.points:
            traces.append(_strip(row, position, strips, title, choice))
    names = [
        {
            "text": f"{escape(row.row.title)}, n = {row.mean.n}",
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": position + 0.4,
            "yanchor": "bottom",
            "showarrow": False,
        }
        for position, row in enumerate(rows)
    ]
    return plotly_figure(
        traces,
        xaxis={"title": {"text": f"{choice.metric_axis}, of a topic"}},
        yaxis={
            "title": {"text": "system"},
            "range": [-0.5, len(rows) - 0.05],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
        },
        annotations=names,
        margin={"l": 40},
        height=ROW * len(rows) + 100,
    )


def compare_figure(compared: Comparison, choice: RetrievalQuery) -> Json:
    """Return a point for each topic: the first run across, the second up.

    Equal values are on the diagonal. Topics with the same values stand round their place; the cross is the
    means with their intervals.
    """
    ours = np.array([topic.first for topic in compared.topics])
    theirs = np.array([topic.second for topic in compared.topics])
    axis = value_axis(ours, theirs)
    plotted = scatter(ours, theirs, axis).points
    point_by_topic = {point.index: point for point in plotted}
    points = go.Scatter(
        x=[_value(point_by_topic[index].x, PLOT_LEFT, RIGHT, axis) for index in point_by_topic]
        or ours.tolist(),
        y=[_value(point_by_topic[index].y, BOTTOM, TOP, axis) for index in point_by_topic]
        or theirs.tolist(),
        text=[
            f"{escape(topic.name)}<br>{printed(topic.first, 4)} (x), {printed(topic.second, 4)} (y)"
            for topic in (compared.topics[index] for index in point_by_topic or range(len(ours)))
        ],
        customdata=[
            matrix_url(choice, compared.topics[index].key, compared.first)
            for index in point_by_topic or range(len(ours))
        ],
        mode="markers",
        marker={"size": 11, "opacity": 0.6},
        showlegend=False,
        hovertemplate="%{text}<extra></extra>",
    )
    maximum = highest(choice.metric)
    across, up = (mean_difference(side).within(0, maximum) for side in (ours, theirs))
    traces = [points]
    if across.value is not None and up.value is not None:
        label = f"means: {format_estimate(across)}, across<br>{format_estimate(up)}, up"
        bars = {"error_x": interval_bars([across]), "error_y": interval_bars([up])}
        traces.append(mean_marker([across.value], [up.value], label, **bars))
    n = len(compared.topics)
    line = {"type": "line", "x0": 0, "y0": 0, "x1": axis[1], "y1": axis[1], "layer": "below"}
    return plotly_figure(
        traces,
        xaxis={"title": {"text": f"{choice.metric_axis}, {escape(compared.first.title)}, n = {n}"}},
        yaxis={"title": {"text": f"{choice.metric_axis}, {escape(compared.second.title)}"}},
        shapes=[line],
        margin={"l": 60},
    )


def _strip(
    row: StripRow, position: int, strips: Strips, title: str, choice: RetrievalQuery
) -> go.Scatter:
    return go.Scatter(
        name=row.row.title,
        x=[
            _value(point.x.removesuffix("%"), STRIP_LEFT, STRIP_RIGHT, strips.axis)
            for point, _ in row.points
        ],
        y=[
            position + (STRIP_HEIGHT / 2 - float(point.y)) / (1.2 * STRIP_HEIGHT)
            for point, _ in row.points
        ],
        text=[
            f"{escape(value.topic)}<br>{title} {printed(value.value or 0, 4)}"
            for _, value in row.points
        ],
        customdata=[matrix_url(choice, value.key, row.row) for _, value in row.points],
        mode="markers",
        marker={"size": 9, "opacity": 0.7},
        showlegend=False,
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _value(coordinate: str, low: float, high: float, axis: Axis) -> float:
    """Return the value at a coordinate of an axis drawn from `low` to `high`."""
    return axis[0] + (axis[1] - axis[0]) * (float(coordinate) - low) / (high - low)


def _box(
    name: str, position: int, low: float, first: float, middle: float, third: float, high: float
) -> go.Box:
    return go.Box(
        y=[position],
        lowerfence=[low],
        q1=[first],
        median=[middle],
        q3=[third],
        upperfence=[high],
        orientation="h",
        name=name,
        showlegend=False,
        hoverinfo="x+name",
    )
