"""Interactive figure of question types: recall over the weight, a line for each type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import plotly.graph_objects as go
from django.urls import reverse

from evaluation.figures import (
    INK,
    SYMBOLS,
    Cell,
    ExplorePage,
    FigureTable,
    Json,
    Panel,
    count_cell,
    estimate_cell,
    format_estimate,
    interval_bars,
    stacked_panels,
)
from evaluation.replications.know_your_rag.chart import WEIGHT_AXIS, recall_axis
from evaluation.replications.know_your_rag.page import ByType, TypeRow
from evaluation.replications.know_your_rag.query import ByTypeQuery
from evaluation.stats.estimate import Estimate

DECIMALS = 3


def types_page(choice: ByTypeQuery, results: ByType) -> ExplorePage:
    """Return recall at each weight by type of question."""
    rows = [row for row in results.rows if row.best is not None]
    return ExplorePage(
        title=f"Recall@{choice.k} by type of question",
        file_name=f"{choice.dataset.slug}-by-type",
        back_url=f"{reverse('by_type', args=[choice.dataset.slug])}?{choice.query()}",
        back_title="Question types",
        summary=(
            f"Weight × {choice.lexical} + (1 − weight) × {choice.dense}, {choice.labels['how']}. "
            "95% intervals: jackknife over topics. The best value of a type has none, because the maximum of "
            "several is biased upwards."
        ),
        figure=types_figure(rows, choice.weights, choice.k) if rows else None,
        tables=(_recall_table(results.rows, choice.weights),),
        empty="The figure is empty: no question has a gold context and a ranking.",
    )


def types_figure(rows: Sequence[TypeRow], weights: Sequence[float], k: int) -> Json:
    """Return a line for each type, with the interval and n of each of its points."""
    traces = [_line(row, index, weights) for index, row in enumerate(rows)]
    panel = Panel(
        "",
        traces,
        x={"title": {"text": WEIGHT_AXIS}, "range": [-0.03, 1.03]},
        y={"title": {"text": recall_axis(k)}},
        height=420,
    )
    return stacked_panels([panel])


def _line(row: TypeRow, index: int, weights: Sequence[float]) -> go.Scatter:
    mark = (index - 1) % len(SYMBOLS)
    estimates = _reported(row, weights)
    return go.Scatter(
        x=list(weights),
        y=[estimate.value for estimate in estimates],
        error_y=interval_bars(estimates) | {"thickness": 1, "width": 3},
        text=[
            f"{escape(row.name)}<br>weight {weight:g}: {format_estimate(estimate)}"
            f"{', best' if number == row.best else ''}"
            for number, (weight, estimate) in enumerate(zip(weights, estimates, strict=True))
        ],
        mode="lines+markers",
        name=f"{escape(row.name)}, n = {row.n}",
        meta=INK if row.grade is None else f"--mark-{mark + 1}",
        line={"dash": "solid" if row.grade is None else "dash"},
        marker={"size": 9, "symbol": "circle" if row.grade is None else SYMBOLS[mark]},
        hovertemplate="%{text}<extra></extra>",
    )


def _reported(row: TypeRow, weights: Sequence[float]) -> list[Estimate]:
    """Return the recall at each weight; the best one of several has no interval."""
    return [
        Estimate(estimate.value, estimate.reason, estimate.n, estimate.missing)
        if index == row.best and len(weights) > 1
        else estimate
        for index, estimate in enumerate(row.recall)
    ]


def _recall_table(rows: Sequence[TypeRow], weights: Sequence[float]) -> FigureTable:
    def cells(row: TypeRow) -> tuple[Cell, ...]:
        recall_cells = [
            estimate_cell(estimate, DECIMALS, with_n=False) for estimate in _reported(row, weights)
        ]
        if row.best is not None:
            best = recall_cells[row.best]
            recall_cells[row.best] = replace(best, text=f"{best.text} best")
        return Cell(row.name), *recall_cells, count_cell(row.n), count_cell(row.missing)

    return FigureTable(
        name="recall",
        caption="Recall by the weight of the lexical run",
        note="Missing: without a gold context, or ranked by neither run.",
        columns=("Type", *(f"{weight:g}" for weight in weights), "n", "Missing"),
        rows=tuple(cells(row) for row in rows),
    )
