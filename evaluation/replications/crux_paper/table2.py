"""Table 2: coverage of contexts and reports at two thresholds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from annotation.plurals import n_of
from evaluation.metrics.threshold import at_threshold
from evaluation.replications.crux_paper.names import COVERAGE_Y, COVERAGE_Z
from evaluation.replications.crux_paper.systems import conditions, values
from evaluation.replications.crux_paper.table_layout import (
    TAU,
    Block,
    Cell,
    Column,
    Line,
    PaperTable,
)
from evaluation.replications.crux_paper.tau_notes import REVERSED, tau_note
from evaluation.scoring.ordering import comparable, order_agreement
from evaluation.scoring.score import Scores

LABEL = "table2"
ETAS = (3, 5)

COLUMNS = (
    Column("coverage_z_mean", "mean", "mean", "Cov(Z)"),
    Column("coverage_z_sd", "sd", "sd", "Cov(Z)"),
    Column("coverage_y_mean", "mean", "mean", "Cov(y)"),
    Column("coverage_y_sd", "sd", "sd", "Cov(y)"),
    Column("tau", "Kendall τ", r"Kendall $\tau$"),
)


def table2(by_eta: Mapping[int, Scores], dataset: str) -> PaperTable:
    """Return Table 2: mean and SD (n - 1) over systems of mean coverages, and Kendall's tau.

    `by_eta` has the scores at each threshold. The systems are those of Table 1 without the bounds;
    each column takes those that have all of its topics.
    """
    options = next(iter(by_eta.values())).options
    return PaperTable(
        label=LABEL,
        stub="η",
        columns=COLUMNS,
        blocks=(Block("eta", tuple(_line(eta, scores) for eta, scores in by_eta.items())),),
        caption=(
            f"Coverage of the retrieval contexts Z and of the reports y of {dataset} at the "
            "thresholds η, in percent: mean and standard deviation over systems of their means over "
            "topics, and Kendall τ (tau-b) between the two. In each column only systems count that "
            "have all of its topics; reference bounds are left out. "
            f"{conditions(options, eta=False)}"
        ),
        notes=(REVERSED,),
        facts=("topics_z", "topics_y"),
    )


def _line(eta: int, scores: Scores) -> Line:
    z, y = (comparable(values(scores, metric)) for metric in (COVERAGE_Z, COVERAGE_Y))
    threshold = at_threshold(z, y, eta)
    spreads = (
        threshold.contexts.mean,
        threshold.contexts.sd,
        threshold.reports.mean,
        threshold.reports.sd,
    )
    n_topics = [int((~np.isnan(coverage)).any(axis=1).sum()) for coverage in (z, y)]
    counted = zip(
        ("Z", "y"), (threshold.contexts.mean.n, threshold.reports.mean.n), n_topics, strict=True
    )
    tau = order_agreement(z, y)
    counts = [
        f"{name}: {n_of(n, 'system')}, {n_of(topics, 'topic')}" for name, n, topics in counted
    ]
    return Line(
        name=str(eta),
        cells=(*map(Cell, spreads), Cell(tau, TAU)),
        note="; ".join(filter(None, [*counts, tau_note([("", tau)])])),
        facts=tuple(n_topics),
    )
