"""Tables of the agreement page as CSV rows: full precision, and reasons of missing values."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from evaluation.agreement.confusions import MAJORITY, rater_confusions
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.numbers import (
    SCOPES,
    Scope,
    estimates,
    numbers,
    overall,
    overall_counts,
)
from evaluation.agreement.report import AgreementReport
from evaluation.data.selection import SelectionError
from evaluation.result_tables import Cell, Number, ResultTable, Row, Statistic

Maker = Callable[[AgreementReport, AgainstJudge | None], ResultTable]


def agreement_table(name: str, report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    """Return a table of the page by its name in TABLES.

    `judged` is the judge against the chosen raters. Raises SelectionError for a table against a judge
    where none is chosen.
    """
    if name in AGAINST_A_JUDGE and judged is None:
        raise SelectionError("This table needs a judge: choose one.")
    return TABLES[name](report, judged)


def _wide(scope: Scope, rows: list[object]) -> ResultTable:
    """Return a table with one row for each row of the scope.

    Its columns are names, plain columns, and statistics, each with interval, n, missing and reason.
    """
    plain = {**scope.names, **scope.plain}
    header = [*plain, *(Statistic(name) for name in scope.measures)]
    lines: list[Row] = [
        [
            *(attrgetter(path)(row) for path in plain.values()),
            *estimates(row, scope.measures).values(),
        ]
        for row in rows
    ]
    return ResultTable(header, lines)


def _of(name: str) -> Maker:
    scope = SCOPES[name]
    return lambda report, _: _wide(
        scope.restricted_to(report.selection.measures), list(scope.rows(report))
    )


def _numbers(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    """Return all numbers of the page, one a line."""
    return ResultTable(list(Number._fields), [list(number) for number in numbers(report)])


def _measures(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    return ResultTable(
        ["measure", Statistic(""), "interval"],
        [
            *overall(report),
            *([name, count, None] for name, count in overall_counts(report).items()),
        ],
    )


def _coverage(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    """Return a row for each report: coverage by rater, and counts of its questions.

    A judge that is among the raters has its columns once.
    """
    header = ["report", "system", "topic"]
    for rater in report.selection.columns:
        header += [rater.name, *(f"{rater.name}_{part}" for part in ("n", "unrated", "reason"))]
    rows: list[list[Cell]] = []
    for row in report.reports:
        cells: list[Cell] = [row.name, row.system, row.topic]
        for _, estimate in report.coverage_of(row):
            cells += [estimate.value, estimate.n, estimate.missing, estimate.reason]
        rows.append(cells)
    return ResultTable(header, rows)


def _means(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    return ResultTable(
        ["system", "rater", "mean_coverage", "n", "unfinished", "reason"],
        [
            [system, rater.name, mean.value, mean.n, mean.missing, mean.reason]
            for system, means in report.mean_coverage.items()
            for rater, mean in zip(report.selection.columns, means, strict=True)
        ],
    )


def _judge(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    """Return a row for all raters together, for each rater, and for each system."""
    parts = {"all": "judge", "rater": "judge_rater", "system": "judge_system"}
    tables = {part: _of(scope)(report, judged) for part, scope in parts.items()}
    return ResultTable(
        ["part", *tables["all"].header],
        [[part, *row] for part, table in tables.items() for row in table.rows],
    )


def _confusion(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    assert judged is not None
    return ResultTable(
        ["raters", "grade_of_raters", "grade_of_judge", "n"],
        [
            [judged.name, human, judge, count]
            for human, row in zip(judged.levels, judged.matrix.tolist(), strict=True)
            for judge, count in zip(judged.levels, row, strict=True)
        ],
    )


def _confusions(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    """Return the confusions of all pairs of sides, a row for each cell."""
    return ResultTable(
        [
            "true_side",
            "other_side",
            "grade_of_true_side",
            "grade_of_other_side",
            "n",
            "share_of_row",
        ],
        [
            [sides.truth or MAJORITY, sides.rater, row_grade, column_grade, count, share]
            for sides in rater_confusions(report)
            for row_grade, column_grade, count, share in sides.cells(report.levels)
        ],
    )


def _composition(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    """Return a row for each rater, system and grade."""
    names = report.selection.names
    return ResultTable(
        ["rater", "system", "grade", "level", "count", Statistic("share")],
        [
            [row.rater.name, row.system, grade, names[grade], count, part]
            for row in report.graded
            for grade, count, part in row.cells
        ],
    )


def _sweep(report: AgreementReport, judged: AgainstJudge | None) -> ResultTable:
    assert judged is not None
    swept = _wide(SCOPES["eta"].restricted_to(report.selection.measures), list(judged.sweep))
    return ResultTable(["raters", *swept.header], [[judged.name, *row] for row in swept.rows])


TABLES: dict[str, Maker] = {
    "numbers": _numbers,
    "measures": _measures,
    "raters": _of("rater"),
    "pairs": _of("pair"),
    "systems": _of("system"),
    "topics": _of("topic"),
    "labels": _of("label"),
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
