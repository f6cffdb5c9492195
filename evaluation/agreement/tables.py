"""The tables of the agreement page as rows for files: full precision, and why a value is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from evaluation.agreement.confusions import MAJORITY, raters_apart
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.numbers import (
    SCOPES,
    Scope,
    estimates,
    numbers,
    overall,
    overall_counts,
)
from evaluation.agreement.page import AgreementReport
from evaluation.csv_tables import Cell, Number, estimate_cells, estimate_header
from evaluation.data.selection import SelectionError


@dataclass(frozen=True)
class Table:
    """A header and its rows."""

    header: list[str]
    rows: list[list[Cell]]


Maker = Callable[[AgreementReport, AgainstJudge | None], Table]


def agreement_table(name: str, report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """A table of the page by its name in TABLES. `judged` is whose grades the judge is held against.

    Raises SelectionError for a table against a judge where none is chosen.
    """
    if name in AGAINST_A_JUDGE and judged is None:
        raise SelectionError("This table is counted against a judge: choose one.")
    return TABLES[name](report, judged)


def _wide(scope: Scope, rows: list[object]) -> Table:
    """A line a row: its names, what else is plain, and its statistics, which have their interval, n,
    missing and reason in columns beside them."""
    plain = {**scope.names, **scope.plain}
    header = [*plain, *(column for name in scope.measures for column in estimate_header(name))]
    table = Table(header, [])
    for row in rows:
        cells: list[Cell] = [attrgetter(path)(row) for path in plain.values()]
        for estimate in estimates(row, scope.measures).values():
            cells += estimate_cells(estimate)
        table.rows.append(cells)
    return table


def _of(name: str) -> Maker:
    scope = SCOPES[name]
    return lambda report, _: _wide(scope.under(report.selection.measures), list(scope.rows(report)))


def _numbers(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """All numbers of the page, one a line."""
    return Table(list(Number._fields), [list(number) for number in numbers(report)])


def _measures(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    return Table(
        ["measure", "value", "low", "high", "n", "missing", "reason", "interval"],
        [
            [measure, *estimate_cells(estimate), interval]
            for measure, estimate, interval in overall(report)
        ]
        + [[name, count, *[None] * 6] for name, count in overall_counts(report).items()],
    )


def _coverage(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """One row a report: each rater's coverage, its questions and those without a rating."""
    header = ["report", "system", "topic"]
    for rater in report.columns:
        header += [rater.name, *(f"{rater.name}_{part}" for part in ("n", "unrated", "reason"))]
    rows: list[list[Cell]] = []
    for row in report.reports:
        cells: list[Cell] = [row.name, row.system, row.topic]
        for estimate in filter(None, (*row.coverage, row.judge)):
            cells += [estimate.value, estimate.n, estimate.missing, estimate.reason]
        rows.append(cells)
    return Table(header, rows)


def _means(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    return Table(
        ["system", "rater", "mean_coverage", "n", "unfinished", "reason"],
        [
            [system, rater.name, mean.value, mean.n, mean.missing, mean.reason]
            for system, means in report.mean_coverage.items()
            for rater, mean in zip(report.columns, means, strict=True)
        ],
    )


def _judge(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """One row for all raters together, for each rater, and for each system."""
    parts = {"all": "judge", "rater": "judge_rater", "system": "judge_system"}
    tables = {part: _of(scope)(report, judged) for part, scope in parts.items()}
    return Table(
        ["part", *tables["all"].header],
        [[part, *row] for part, table in tables.items() for row in table.rows],
    )


def _confusion(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    assert judged is not None
    return Table(
        ["raters", "grade_of_raters", "grade_of_judge", "n"],
        [
            [judged.name, human, judge, count]
            for human, row in zip(judged.levels, judged.matrix.tolist(), strict=True)
            for judge, count in zip(judged.levels, row, strict=True)
        ],
    )


def _confusions(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """Two sides at a time: how often one gave one grade and the other another."""
    return Table(
        [
            "true_side",
            "other_side",
            "grade_of_true_side",
            "grade_of_other_side",
            "n",
            "share_of_row",
        ],
        [
            [sides.truth or MAJORITY, sides.other, true, other, count, share]
            for sides in raters_apart(report)
            for true, other, count, share in sides.cells(report.selection.levels)
        ],
    )


def _composition(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """One line a rater, system and grade."""
    names = report.selection.names
    return Table(
        ["rater", "system", "grade", "level", "count", *estimate_header("share")],
        [
            [given.rater.name, given.system, grade, names[grade], count, *estimate_cells(part)]
            for given in report.graded
            for grade, count, part in given.cells
        ],
    )


def _sweep(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    assert judged is not None
    swept = _wide(SCOPES["eta"].under(report.selection.measures), list(judged.sweep))
    return Table(["raters", *swept.header], [[judged.name, *row] for row in swept.rows])


TABLES: dict[str, Maker] = {
    "numbers": _numbers,
    "measures": _measures,
    "raters": _of("rater"),
    "pairs": _of("pair"),
    "systems": _of("system"),
    "topics": _of("topic"),
    "majority": _of("majority"),
    "coverage": _coverage,
    "means": _means,
    "correlations": _of("correlation"),
    "judge": _judge,
    "confusion": _confusion,
    "sweep": _sweep,
    "slices": _of("slice"),
    "grades": _of("grades"),
    "composition": _composition,
    "classes": _of("class"),
    "confusions": _confusions,
}
AGAINST_A_JUDGE = ("judge", "confusion", "sweep")
