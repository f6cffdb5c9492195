"""The page of nuggets as rows of files, and as one object."""

from __future__ import annotations

from typing import Any

from evaluation.csv_tables import ESTIMATE, Cell, estimate_cells, estimate_header
from evaluation.metrics.nuggets import SCORES
from evaluation.nuggets.page import NuggetReport
from evaluation.nuggets.params import NuggetChoice
from evaluation.nuggets.scores import LEVELS
from evaluation.scoring.ordering import PAIR_COUNTS
from evaluation.stats.estimate import Estimate

Table = tuple[list[str], list[list[Cell]]]
_SCORES = [column for name in SCORES for column in estimate_header(name)]


def systems_table(report: NuggetReport) -> Table:
    """A line a system: the means of its scores; n counts reports, missing those not finished."""
    return ["system", *_SCORES], [
        [row.system, *(cell for name in SCORES for cell in estimate_cells(row.means[name]))]
        for row in report.systems
    ]


def reports_table(report: NuggetReport) -> Table:
    """A line a report: its scores, n counting nuggets, and how many have which assignment."""
    header = ["system", "topic", "report", *_SCORES, *LEVELS.values(), "missing"]
    return header, [
        [
            *(row.system, row.topic.name, row.name),
            *(cell for name in SCORES for cell in estimate_cells(row.scores[name])),
            *row.assignment.values(),
        ]
        for row in report.reports
    ]


def topics_table(report: NuggetReport) -> Table:
    """A line a topic: how many nuggets it has, of which weight, in how many groups."""
    names = [name for name in report.counts if name != "topics"]
    return ["topic", *names], [[topic.name, *topic.counts.values()] for topic in report.topics]


def order_table(report: NuggetReport) -> Table:
    """A line a system that both datasets have: its means by nuggets and by coverage."""
    rows = report.order.rows if report.order else ()
    return ["system", *_SCORES, *estimate_header("coverage")], [
        [
            row.system,
            *(cell for name in SCORES for cell in estimate_cells(row.nuggets[name])),
            *estimate_cells(row.coverage),
        ]
        for row in rows
    ]


TABLES = {
    "systems": systems_table,
    "reports": reports_table,
    "topics": topics_table,
    "order": order_table,
}


def as_json(choice: NuggetChoice, report: NuggetReport) -> dict[str, Any]:
    """All of the page."""
    return {
        "dataset": choice.dataset.slug,
        "support": choice.support and choice.support.name,
        "importance": choice.importance and choice.importance.name,
        "rules": choice.rules,
        "counts": report.counts,
        "topics": {topic.name: topic.counts for topic in report.topics},
        "systems": [
            {"system": row.system, **{name: _cells(row.means[name]) for name in SCORES}}
            for row in report.systems
        ],
        "reports": [
            {
                "system": row.system,
                "topic": row.topic.name,
                "report": row.name,
                **{name: _cells(row.scores[name]) for name in SCORES},
                "assignment": row.assignment,
            }
            for row in report.reports
        ],
        "order": _order(choice, report),
    }


def _order(choice: NuggetChoice, report: NuggetReport) -> dict[str, Any] | None:
    order, options = report.order, choice.options
    if order is None or options is None or choice.beside is None:
        return None
    return {
        "beside": choice.beside.slug,
        "source": options.source.name,
        "eta": options.eta,
        "topics": order.n_topics,
        "topics_of_one_alone": order.n_lone,
        "systems": [
            {
                "system": row.system,
                **{name: _cells(row.nuggets[name]) for name in SCORES},
                "coverage": _cells(row.coverage),
            }
            for row in order.rows
        ],
        "kendall_tau_b": {
            name: _cells(tau) | dict(zip(PAIR_COUNTS, tau.pair_counts, strict=True))
            for name, tau in order.taus.items()
        },
    }


def _cells(estimate: Estimate) -> dict[str, Cell]:
    return dict(zip(ESTIMATE, estimate_cells(estimate), strict=True))
