"""Charts of the page: recall over the weight of the lexical run, one for each type."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.decimals import printed
from evaluation.line_charts import LineChart, line_chart
from evaluation.replications.know_your_rag.page import TypeRow

AXES = ((0.8, 0.9, 1.0), (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), (0.0, 0.5, 1.0))

WEIGHT_AXIS = "weight of the lexical run (0 to 1)"


def recall_axis(k: int) -> str:
    """Return the title of the axis of recall, with its unit."""
    return f"recall@{k} (share of questions)"


def curves(rows: Sequence[TypeRow], weights: Sequence[float], k: int) -> list[LineChart]:
    """Return a chart for each type with values, on the shortest axis that holds all intervals."""
    charted = [row for row in rows if row.best is not None]
    lows = [
        value
        for row in charted
        for estimate in row.recall
        for value in (estimate.low, estimate.value)
        if value is not None
    ]
    axis = next((axis for axis in AXES if axis[0] <= min(lows, default=0.0)), AXES[-1])
    return [_curve(row, weights, k, axis) for row in charted]


def _curve(row: TypeRow, weights: Sequence[float], k: int, axis: Sequence[float]) -> LineChart:
    steps = [
        (weight, f"weight {weight:g}: {printed(estimate.value or 0, 3)}")
        for weight, estimate in zip(weights, row.recall, strict=True)
    ]
    lines = {
        "recall": [estimate.value for estimate in row.recall],
        "95% from": [estimate.low for estimate in row.recall],
        "to": [estimate.high for estimate in row.recall],
    }
    return line_chart(f"{row.name}, n = {row.n}", steps, lines, axis, WEIGHT_AXIS, recall_axis(k))
