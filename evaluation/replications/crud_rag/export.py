"""CSV tables of the grid, and the grid as one JSON object."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.data.certificates import certificates_in_words
from evaluation.data.generations import TopicPlace
from evaluation.data.selection import one_of
from evaluation.replications.crud_rag.page import Grid, GridRow
from evaluation.replications.crud_rag.query import GridQuery
from evaluation.result_tables import Cell, ResultTable, Row, Statistic
from evaluation.stats.estimate import Estimate

HEADER = [
    *("group", "system", "setting", "value", "base", "rules", "tokens", "rater"),
    *("topics", "reports", "measure"),
    Statistic("mean"),
    *("undefined", "best", "difference", "n_both", "p", "p_holm"),
]


def grid_table(choice: GridQuery, report: Grid) -> ResultTable:
    """Return a row for each task type, system and measure."""
    return ResultTable(
        HEADER,
        [_line(choice, row, measure) for row in report.rows for measure in sorted(row.means)],
    )


def _line(choice: GridQuery, row: GridRow, measure: str) -> Row:
    against = row.against.get(measure)
    tested: list[Cell] = [None] * 4
    if against:
        flip = against.flip
        tested = [flip.value, flip.n, flip.p, against.p_holm]
    return [
        *(row.group, row.system, choice.vary, _plain(row.value), choice.base),
        *(
            choice.options.rules,
            str(choice.options.tokens),
            choice.rater.name if choice.rater else None,
        ),
        *(row.n_topics, row.n_reports, measure),
        row.means[measure],
        *(row.n_undefined[measure], int(measure in row.best), *tested),
    ]


def _plain(value: Any) -> Cell:
    return value if isinstance(value, str | int | float) else str(value)


def items_table(choice: GridQuery, report: Grid) -> ResultTable:
    """Return a row for each system and topic with a report, with all measures.

    An undefined value is an empty cell.
    """
    measurements = {system: choice.scorer.measure(system) for system in choice.systems}
    names = sorted({name for measured in measurements.values() for name in measured.values})
    lines: list[Row] = []
    for system, measured in measurements.items():
        for index in np.flatnonzero(measured.has_report).tolist():
            topic = choice.scorer.generations.topics[index]
            values = [_number(measured.values.get(name), index) for name in names]
            lines.append([system, topic.group, topic.name, *values])
    return ResultTable(["system", "group", "topic", *names], lines)


def _number(values: Any, index: int) -> float | None:
    return None if values is None or np.isnan(values[index]) else float(values[index])


TABLES = {"grid": grid_table, "items": items_table}


def as_json(choice: GridQuery, report: Grid) -> dict[str, Any]:
    """Return the whole page as a JSON object."""
    options = choice.options
    return {
        "dataset": choice.dataset.slug,
        "certificates": certificates_in_words(choice.dataset, choice.filter_phrases()),
        "vary": choice.vary,
        "base": choice.base,
        "alike": choice.common_settings,
        "rules": options.rules,
        "tokens": {"name": options.tokens.name, "version": options.tokens.version or None},
        "rater": choice.rater.name if choice.rater else None,
        "measures": dict(report.measures),
        "rows": [_row(choice, row) for row in report.rows],
        "unlike_their_metrics": [vars(unlike) for unlike in report.unlike],
    }


def _row(choice: GridQuery, row: GridRow) -> dict[str, Any]:
    return {
        "group": row.group,
        "system": row.system,
        "value": row.value,
        "settings": choice.settings[row.system],
        "n_topics": row.n_topics,
        "n_reports": row.n_reports,
        "on_same_topics": not row.is_on_other_topics,
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


def items_json(choice: GridQuery, system: str) -> dict[str, Any]:
    """Return the values of a system on each topic with a report, null where undefined.

    Raises SelectionError for a system that is none of those compared.
    """
    one_of("system here", system, choice.systems)
    measured = choice.scorer.measure(system)
    topics = choice.scorer.generations.topics
    return {
        "dataset": choice.dataset.slug,
        "certificates": certificates_in_words(choice.dataset, choice.filter_phrases()),
        "system": system,
        "rules": choice.options.rules,
        "tokens": str(choice.options.tokens),
        "items": [
            _item(topics[index], {n: _number(v, index) for n, v in measured.values.items()})
            for index in np.flatnonzero(measured.has_report).tolist()
        ],
    }


def _item(topic: TopicPlace, values: dict[str, float | None]) -> dict[str, Any]:
    return {"topic": topic.name, "group": topic.group, "values": values}
