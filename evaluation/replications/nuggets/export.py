"""The page of nuggets as rows of files, and as one object."""

from __future__ import annotations

from typing import Any

from evaluation.data.certificates import certificates_in_words
from evaluation.replications.nuggets.metrics import SCORES
from evaluation.replications.nuggets.page import NuggetReport
from evaluation.replications.nuggets.query import NuggetQuery
from evaluation.replications.nuggets.scores import LEVELS
from evaluation.result_tables import ResultTable, Statistic, estimate_record
from evaluation.scoring.ordering import PAIR_COUNTS

_SCORES = [Statistic(name) for name in SCORES]


def systems_table(report: NuggetReport) -> ResultTable:
    """A line a system: the means of its scores; n counts reports, missing those not finished."""
    return ResultTable(
        ["system", *_SCORES],
        [[row.system, *(row.means[name] for name in SCORES)] for row in report.systems],
    )


def reports_table(report: NuggetReport) -> ResultTable:
    """A line a report: its scores, n counting nuggets, and how many have which assignment."""
    header = ["system", "topic", "report", *_SCORES, *LEVELS.values(), "missing"]
    return ResultTable(
        header,
        [
            [
                *(row.system, row.topic.name, row.name),
                *(row.scores[name] for name in SCORES),
                *row.assignment.values(),
            ]
            for row in report.reports
        ],
    )


def topics_table(report: NuggetReport) -> ResultTable:
    """A line a topic: how many nuggets it has, of which weight, in how many groups."""
    names = [name for name in report.counts if name != "topics"]
    return ResultTable(
        ["topic", *names], [[topic.name, *topic.counts.values()] for topic in report.topics]
    )


def order_table(report: NuggetReport) -> ResultTable:
    """A line a system that both datasets have: its means by nuggets and by coverage."""
    rows = report.order.rows if report.order else ()
    return ResultTable(
        ["system", *_SCORES, Statistic("coverage")],
        [
            [
                row.system,
                *(row.nuggets[name] for name in SCORES),
                row.coverage,
            ]
            for row in rows
        ],
    )


TABLES = {
    "systems": systems_table,
    "reports": reports_table,
    "topics": topics_table,
    "order": order_table,
}


def as_json(choice: NuggetQuery, report: NuggetReport) -> dict[str, Any]:
    """All of the page."""
    return {
        "dataset": choice.dataset.slug,
        "certificates": certificates_in_words(choice.dataset, choice.filter_phrases()),
        "support": choice.support and choice.support.name,
        "importance": choice.importance and choice.importance.name,
        "rules": choice.rules,
        "counts": report.counts,
        "topics": {topic.name: topic.counts for topic in report.topics},
        "systems": [
            {"system": row.system, **{name: estimate_record(row.means[name]) for name in SCORES}}
            for row in report.systems
        ],
        "reports": [
            {
                "system": row.system,
                "topic": row.topic.name,
                "report": row.name,
                **{name: estimate_record(row.scores[name]) for name in SCORES},
                "assignment": row.assignment,
            }
            for row in report.reports
        ],
        "order": _order(choice, report),
    }


def _order(choice: NuggetQuery, report: NuggetReport) -> dict[str, Any] | None:
    order, scoring = report.order, choice.scoring
    if order is None or scoring is None or choice.comparison is None:
        return None
    return {
        "beside": choice.comparison.slug,
        "source": scoring.source.name,
        "eta": scoring.eta,
        "topics": order.n_topics,
        "topics_of_one_alone": order.n_lone,
        "systems": [
            {
                "system": row.system,
                **{name: estimate_record(row.nuggets[name]) for name in SCORES},
                "coverage": estimate_record(row.coverage),
            }
            for row in order.rows
        ],
        "kendall_tau_b": {
            name: estimate_record(tau) | dict(zip(PAIR_COUNTS, tau.pair_counts, strict=True))
            for name, tau in order.taus.items()
        },
    }
