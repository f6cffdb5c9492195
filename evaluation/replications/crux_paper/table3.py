"""Table 3: correlation of retrieval and reports by the size of Z."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.replications.crux_paper.names import AGAINST, TABLE_3
from evaluation.replications.crux_paper.systems import conditions, n_scored, topics, values
from evaluation.replications.crux_paper.table_layout import TAU, Block, Cell, Line, PaperTable
from evaluation.replications.crux_paper.tau_notes import REVERSED, tau_note
from evaluation.scoring.options import Cutoff
from evaluation.scoring.ordering import order_agreement
from evaluation.scoring.score import Scores

LABEL = "table3"
SIZES: tuple[Cutoff, ...] = ("oracle", 10, 20)


def table3(by_size: Mapping[Cutoff, Scores], dataset: str) -> PaperTable:
    """Return Table 3: Kendall's tau of retrieval metrics with the reports', by size of Z.

    `by_size` has the scores at each cut-off; `oracle` is the size of the topic's Z*. The systems
    are those of Table 1 without the bounds, and tau is as there.
    """
    first = next(iter(by_size.values()))
    return PaperTable(
        label=LABEL,
        stub="Passages of Z",
        columns=tuple(metric.column() for metric in TABLE_3),
        blocks=(Block("size", tuple(_line(size, scores) for size, scores in by_size.items())),),
        caption=(
            f"Kendall τ (tau-b) over the systems of {dataset} between metrics of the retrieval "
            "context Z, cut off at a number of passages, and the report: its coverage, and for "
            f"Den(Z) its density. Over {topics(first)}; only systems that have all of them count, "
            f"and reference bounds are left out. {conditions(first.options, cutoff=False)}"
        ),
        notes=(REVERSED,),
        facts=("topics",),
    )


def _line(size: Cutoff, scores: Scores) -> Line:
    taus = {
        metric: order_agreement(values(scores, metric), values(scores, AGAINST[metric]))
        for metric in TABLE_3
    }
    return Line(
        "|Z*|" if size == SIZES[0] else str(size),
        tuple(Cell(tau, TAU) for tau in taus.values()),
        note=tau_note([(metric.title, tau) for metric, tau in taus.items()]),
        facts=(n_scored(scores),),
    )
