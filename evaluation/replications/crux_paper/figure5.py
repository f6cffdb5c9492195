"""Figure 5: rank correlations between metrics over systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.replications.crux_paper.names import Metric
from evaluation.replications.crux_paper.table_layout import (
    TAU,
    Block,
    Cell,
    Column,
    Line,
    PaperTable,
    Value,
    csv_text,
)
from evaluation.replications.crux_paper.tau_notes import REVERSED, tau_note
from evaluation.result_tables import estimate_cells, estimate_header
from evaluation.scoring.ordering import PAIR_COUNTS, OrderAgreement, order_agreement
from evaluation.stats.estimate import FloatArray


@dataclass(frozen=True)
class Heat:
    """Heat map of Kendall's tau-b between metrics, over systems: `taus[i, j]` for i > j."""

    metrics: tuple[Metric, ...]
    taus: dict[tuple[int, int], OrderAgreement]


def heat(values: Mapping[Metric, FloatArray]) -> Heat:
    """Correlate metrics with values topics x systems, NaN = undefined.

    A metric without any value is left out. Which systems count, and the intervals, are as in
    `order_agreement`.
    """
    metrics = [metric for metric, scores in values.items() if not np.isnan(scores).all()]
    pairs = [(i, j) for i in range(len(metrics)) for j in range(i)]
    taus = {(i, j): order_agreement(values[metrics[i]], values[metrics[j]]) for i, j in pairs}
    return Heat(tuple(metrics), taus)


def heat_csv(correlations: Heat) -> str:
    """Return a row for each two metrics as CSV."""
    rows: list[list[Value]] = [
        [
            *(correlations.metrics[j].title, correlations.metrics[i].title),
            *(*estimate_cells(tau), tau.p, *tau.pair_counts),
        ]
        for (i, j), tau in correlations.taus.items()
    ]
    return csv_text(["a", "b", *estimate_header("tau"), "tau_p", *PAIR_COUNTS], rows)


def heat_table(correlations: Heat) -> PaperTable:
    """Return the table of the figure: a line for each two metrics."""
    metrics = correlations.metrics
    lines = (
        Line(
            f"{metrics[j].title}, {metrics[i].title}", (Cell(tau, TAU),), note=tau_note([("", tau)])
        )
        for (i, j), tau in correlations.taus.items()
    )
    return PaperTable(
        label="figure5_values",
        stub="Metrics",
        columns=(Column("tau", "Kendall τ", "Kendall τ"),),
        blocks=(Block("pairs", tuple(lines)),),
        caption="Kendall τ (tau-b) between every two metrics; n counts systems.",
        notes=(REVERSED,),
    )
