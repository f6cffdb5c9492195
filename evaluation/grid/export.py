"""The grid as rows of files, and as one object."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.csv_tables import Cell, estimate_cells, estimate_header
from evaluation.data.generations import TopicPlace
from evaluation.data.selection import one_of
from evaluation.grid.page import Grid, GridRow
from evaluation.grid.params import GridChoice
from evaluation.stats.estimate import Estimate

Table = tuple[list[str], list[list[Cell]]]
HEADER = [
    *("group", "system", "setting", "value", "base", "rules", "tokens", "rater"),
    *("topics", "reports", "measure"),
    *estimate_header("mean"),
    *("undefined", "best", "difference", "n_both", "p", "p_holm"),
]


def grid_table(choice: GridChoice, report: Grid) -> Table:
    """A line for each kind of task, system and measure."""
    return HEADER, [
        _line(choice, row, measure) for row in report.rows for measure in sorted(row.means)
    ]


def _line(choice: GridChoice, row: GridRow, measure: str) -> list[Cell]:
    against = row.against.get(measure)
    tested: list[Cell] = [None] * 4
    if against:
        flip = against.flip
        tested = [flip.value, flip.n, flip.p, against.p_holm]
    return [
        *(row.group, row.system, choice.vary, _plain(row.value), choice.base),
        *(
            choice.asked.rules,
            str(choice.asked.tokens),
            choice.rater.name if choice.rater else None,
        ),
        *(row.n_topics, row.n_reports, measure),
        *estimate_cells(row.means[measure]),
        *(row.n_undefined[measure], int(measure in row.best), *tested),
    ]


def _plain(value: Any) -> Cell:
    return value if isinstance(value, str | int | float) else str(value)


def items_table(choice: GridChoice, report: Grid) -> Table:
    """A line for each topic with a report and each system, with every measure; an empty cell is no value."""
    measured = {system: choice.scorer.measured(system) for system in choice.systems}
    names = sorted({name for each in measured.values() for name in each.values})
    lines: list[list[Cell]] = []
    for system, each in measured.items():
        for index in np.flatnonzero(each.has_report).tolist():
            topic = choice.scorer.generations.topics[index]
            values = [_number(each.values.get(name), index) for name in names]
            lines.append([system, topic.group, topic.name, *values])
    return ["system", "group", "topic", *names], lines


def _number(values: Any, index: int) -> float | None:
    return None if values is None or np.isnan(values[index]) else float(values[index])


TABLES = {"grid": grid_table, "items": items_table}


def as_json(choice: GridChoice, report: Grid) -> dict[str, Any]:
    """All of the page."""
    asked = choice.asked
    return {
        "dataset": choice.dataset.slug,
        "vary": choice.vary,
        "base": choice.base,
        "alike": choice.alike,
        "rules": asked.rules,
        "tokens": {"name": asked.tokens.name, "version": asked.tokens.version or None},
        "rater": choice.rater.name if choice.rater else None,
        "measures": dict(report.measures),
        "rows": [_row(choice, row) for row in report.rows],
        "unlike_their_metrics": [vars(unlike) for unlike in report.unlike],
    }


def _row(choice: GridChoice, row: GridRow) -> dict[str, Any]:
    return {
        "group": row.group,
        "system": row.system,
        "value": row.value,
        "settings": choice.settings[row.system],
        "n_topics": row.n_topics,
        "n_reports": row.n_reports,
        "on_same_topics": not row.is_apart,
        "measures": {
            name: _estimate(mean)
            | {"undefined": row.n_undefined[name], "best": name in row.best}
            | _tested(row, name)
            for name, mean in row.means.items()
        },
    }


def _tested(row: GridRow, measure: str) -> dict[str, Any]:
    against = row.against.get(measure)
    if against is None:
        return {}
    flip = against.flip
    return {
        "against_base": {
            "difference": flip.value,
            "n": flip.n,
            "missing": flip.missing,
            "reason": flip.reason,
            "p": flip.p,
            "p_holm": against.p_holm,
            "exact": flip.exact,
        }
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "missing": estimate.missing,
        "reason": estimate.reason or estimate.interval_reason,
    }


def items_json(choice: GridChoice, system: str) -> dict[str, Any]:
    """Every topic on which a system has a report, with its values, null where there is none.

    Raises SelectionError for a system that is none of those compared.
    """
    one_of("system here", system, choice.systems)
    measured = choice.scorer.measured(system)
    topics = choice.scorer.generations.topics
    return {
        "dataset": choice.dataset.slug,
        "system": system,
        "rules": choice.asked.rules,
        "tokens": str(choice.asked.tokens),
        "items": [
            _item(topics[index], {n: _number(v, index) for n, v in measured.values.items()})
            for index in np.flatnonzero(measured.has_report).tolist()
        ],
    }


def _item(topic: TopicPlace, values: dict[str, float | None]) -> dict[str, Any]:
    return {"topic": topic.name, "group": topic.group, "values": values}
