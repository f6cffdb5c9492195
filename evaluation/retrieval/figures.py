"""Figures to move about in, for plotly.js: the same numbers as the drawings of the pages.

What the content security policy forbids is not used: colour bars, the buttons above a figure, and
heat maps without gaps between their cells set style attributes. Colours come from the page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from evaluation.retrieval.board import Board
from evaluation.retrieval.charts import DRAWN, Strips
from evaluation.retrieval.compare import Comparison
from evaluation.retrieval.export import PARTS
from evaluation.retrieval.orders import Taus
from evaluation.retrieval.params import Choice
from evaluation.retrieval.tags import matrix_url

Json = dict[str, Any]
FIGURES = {
    "metrics": "Kendall’s τ between metrics",
    "topics": "Each topic, by system",
    "compare": "Run against run",
}


def metrics_figure(metric_taus: Taus, choice: Choice) -> Json:
    """Figure 5 of the paper: a heat map of taus."""
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
        texttemplate="%{z:.2f}",
        hovertemplate="%{y} and %{x}: τ-b %{z:.4f}<extra></extra>",
        hoverongaps=False,
    )
    plain = {"showgrid": False}
    return _figure([heat], xaxis=plain, yaxis=plain | {"autorange": "reversed"}, margin={"l": 90})


def topics_figure(strips: Strips, board: Board, choice: Choice) -> Json:
    """A point for each topic of each system; boxes of quantiles where there are too many."""
    title = choice.metric_title
    traces: list[Any] = []
    for row in reversed(strips.rows):
        values = row.row.of(choice.metric)
        known = np.flatnonzero(~np.isnan(values)).tolist()
        name = row.row.title
        if len(board.topics) > DRAWN:
            if known:
                low, first, middle, third, high = np.quantile(values[known], PARTS).tolist()
                traces.append(_box(name, low, first, middle, third, high))
            continue
        traces.append(
            go.Scatter(
                x=[float(values[index]) for index in known],
                y=[name] * len(known),
                text=[board.topics[index] for index in known],
                customdata=[matrix_url(choice, board.keys[index], row.row) for index in known],
                mode="markers",
                marker={"size": 11, "opacity": 0.6},
                showlegend=False,
                hovertemplate="%{text}<br>" + title + " %{x:.4f}<extra>%{y}</extra>",
            )
        )
    return _figure(traces, xaxis={"title": {"text": title}}, margin={"l": 230})


def compare_figure(compared: Comparison, choice: Choice) -> Json:
    """A point for each topic: the first run across, the second up; equal ones on the diagonal."""
    points = go.Scatter(
        x=[topic.first for topic in compared.topics],
        y=[topic.second for topic in compared.topics],
        text=[topic.name for topic in compared.topics],
        customdata=[matrix_url(choice, topic.key, compared.first) for topic in compared.topics],
        mode="markers",
        marker={"size": 11, "opacity": 0.6},
        showlegend=False,
        hovertemplate="%{text}<br>%{x:.4f} across, %{y:.4f} up<extra></extra>",
    )
    ends = [end for topic in compared.topics for end in (topic.first, topic.second)]
    most = max([1.0, *ends])
    line = {"type": "line", "x0": 0, "y0": 0, "x1": most, "y1": most, "layer": "below"}
    return _figure(
        [points],
        xaxis={"title": {"text": f"{choice.metric_title}, {compared.first.title}"}},
        yaxis={"title": {"text": f"{choice.metric_title}, {compared.second.title}"}},
        shapes=[line],
        margin={"l": 70},
    )


def _box(name: str, low: float, first: float, middle: float, third: float, high: float) -> go.Box:
    return go.Box(
        y=[name],
        lowerfence=[low],
        q1=[first],
        median=[middle],
        q3=[third],
        upperfence=[high],
        orientation="h",
        name=name,
        showlegend=False,
        hoverinfo="x+y",
    )


def _figure(traces: Sequence[Any], **layout: Any) -> Json:
    margin = {"t": 20, "r": 20, "b": 60, **layout.pop("margin", {})}
    figure = go.Figure(traces)
    figure.update_layout(template="none", margin=margin, hovermode="closest", **layout)
    figure_json: Json = json.loads(figure.to_json())
    return figure_json
