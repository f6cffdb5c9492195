"""Table 1: the systems of a dataset, their retrieval contexts and their reports."""

from __future__ import annotations

import numpy as np

from annotation.plurals import n_of
from evaluation.replications.crux_paper.names import AGAINST, SIZE_Z, TABLE_1, Metric
from evaluation.replications.crux_paper.systems import (
    System,
    compared,
    conditions,
    n_scored,
    systems,
    topics,
    values,
)
from evaluation.replications.crux_paper.table_layout import (
    MEAN_COUNT,
    SHARE,
    TAU,
    Block,
    Cell,
    Line,
    PaperTable,
)
from evaluation.replications.crux_paper.tau_notes import REVERSED, tau_note
from evaluation.scoring.depths import unequal_depths
from evaluation.scoring.ordering import OrderAgreement, order_agreement
from evaluation.scoring.row_score import RowScore
from evaluation.scoring.score import Scores
from evaluation.stats.estimate import Estimate

LABEL = "table1"
FACTS = (
    "topics_z",
    "unrated_cells_z",
    "topics_y",
    "unrated_cells_y",
)


def table1(scores: Scores, dataset: str) -> PaperTable:
    """Return Table 1: reference bounds, runs with their reports, and Kendall's tau.

    Means are over topics, with their t interval; `dataset` is the name that the caption gives. Tau
    is between a metric of retrieval and the one of the reports that it is compared with, over the
    systems alone: neither bounds nor runs of an oracle enter it.
    """
    every_system = systems(scores)
    full = n_scored(scores)
    n = len(compared(scores))
    blocks = (
        Block(
            "reference",
            tuple(_line(system, full) for system in every_system if system.is_reference),
        ),
        Block(
            "systems",
            tuple(_line(system, full) for system in every_system if not system.is_reference),
        ),
    )
    taus = {metric: _tau(scores, metric) for metric in TABLE_1 if metric in AGAINST}
    tau = Line(
        "Kendall τ",
        (*(Cell(taus[metric], TAU) if metric in taus else None for metric in TABLE_1), None),
        note=tau_note([(metric.title, of) for metric, of in taus.items()]),
    )
    unlike = unequal_depths({s.name: s.contexts.sizes for s in compared(scores) if s.contexts})
    return PaperTable(
        label=LABEL,
        stub="Retrieval context",
        columns=(*(metric.column() for metric in TABLE_1), SIZE_Z),
        blocks=(*(block for block in blocks if block.lines), Block("tau", (tau,))),
        caption=(
            f"Retrieval contexts Z of {dataset} and the reports y written from them, in percent, "
            f"over {topics(scores)}. {conditions(scores.options)} Of the values from "
            "most topics the greatest is bold and the least underlined, references apart. Kendall "
            f"τ (tau-b) is between retrieval and report, over those of the {n_of(n, 'system')} that have "
            "all topics of both. |Z| is the mean number of passages of a context."
        ),
        notes=(
            "An unrated cell answers nothing: with a grade the value may be higher.",
            *([unlike.sentence] if unlike else []),
            *([REVERSED] if any(of.reversals for of in taus.values()) else []),
            *scores.notes,
        ),
        facts=FACTS,
    )


def _line(system: System, full: int) -> Line:
    z, y = system.contexts, system.reports
    return Line(
        name=system.name,
        cells=(*(Cell(system.mean(metric)) for metric in TABLE_1), _size(z)),
        ranked=not system.is_reference,
        note=_note(z, y, full),
        facts=(_n(z), _unrated(z), _n(y), _unrated(y)),
    )


def _tau(scores: Scores, metric: Metric) -> OrderAgreement:
    """Return tau of a metric of retrieval with that of the reports."""
    x, y = (values(scores, side) for side in (metric, AGAINST[metric]))
    return order_agreement(x, y)


def _note(z: RowScore | None, y: RowScore | None, full: int) -> str:
    """Return a row's footnote: fewer topics, unrated cells, gains that the ideal lacks."""
    parts = []
    for name, row in (("Z", z), ("y", y)):
        if row is None or row.means["coverage"].value is None:
            continue
        n, unrated = _n(row), _unrated(row)
        remarks = [f"{n} of {n_of(full, 'topic')}"] * (n != full)
        if unrated:
            remarks.append(f"{n_of(unrated, 'cell')} unrated")
        remarks += [row.absent_remark] * row.counts_absent
        if (theirs := row.mean_ndeval) is not None:
            remarks.append(
                f"α-nDCG {SHARE.number(theirs)} if passages of other topics gain nothing"
            )
        if remarks:
            parts.append(f"{name}: {', '.join(remarks)}")
    return "; ".join(parts)


def _n(row: RowScore | None) -> int | None:
    """Return the number of topics that the mean coverage is over."""
    return None if row is None else row.means["coverage"].n


def _size(row: RowScore | None) -> Cell | None:
    """Return the mean number of passages of a context, over the topics that it has."""
    if row is None or not row.n_topics:
        return None
    return Cell(Estimate(float(np.nanmean(row.sizes)), None, row.n_topics), MEAN_COUNT)


def _unrated(row: RowScore | None) -> int | None:
    """Return the number of cells of answerable questions without a grade, over all topics."""
    return None if row is None else row.n_unrated
