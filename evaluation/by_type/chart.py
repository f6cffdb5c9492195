"""The curves of the page: recall over the weight of the lexical run, a small chart for each type."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.decimals import printed
from evaluation.by_type.page import TypeRow
from evaluation.line_charts import LineChart, line_chart

AXES = ((0.8, 0.9, 1.0), (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), (0.0, 0.5, 1.0))


def curves(rows: Sequence[TypeRow], weights: Sequence[float]) -> list[LineChart]:
    """A chart for each type that has values, all on the shortest axis that holds every interval."""
    drawn = [row for row in rows if row.best is not None]
    lows = [
        value
        for row in drawn
        for each in row.recall
        for value in (each.low, each.value)
        if value is not None
    ]
    axis = next((axis for axis in AXES if axis[0] <= min(lows, default=0.0)), AXES[-1])
    return [_curve(row, weights, axis) for row in drawn]


def _curve(row: TypeRow, weights: Sequence[float], axis: Sequence[float]) -> LineChart:
    steps = [
        (weight, f"weight {weight:g}: {printed(each.value or 0, 3)}")
        for weight, each in zip(weights, row.recall, strict=True)
    ]
    lines = {
        "recall": [each.value for each in row.recall],
        "95% from": [each.low for each in row.recall],
        "to": [each.high for each in row.recall],
    }
    return line_chart(
        f"{row.name}, n = {row.n}", steps, lines, axis, "weight of the lexical run", "recall"
    )
