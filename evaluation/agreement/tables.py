"""The tables of the agreement page as rows for files: full precision, and why a value is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.measures import (
    AGAINST_JUDGE,
    AT_ETA,
    COUNTS,
    OF_COVERAGE,
    OF_MAJORITY,
    OF_PAIR,
    OF_PART,
    OF_RATER,
    Measures,
    estimates,
)
from evaluation.agreement.page import AgreementReport
from evaluation.agreement.parts import Part
from evaluation.csv_tables import Cell, estimate_cells, estimate_header
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


def _table(rows: Iterable[object], plain: Mapping[str, str], measures: Measures) -> Table:
    """Columns by name, each with the attribute that fills it: plain cells, and then statistics,
    which have their interval, n, missing and reason in columns beside them."""
    header = [*plain, *(column for name in measures for column in estimate_header(name))]
    cells = [attrgetter(path) for path in plain.values()]
    return Table(
        header,
        [
            [
                *(cell(row) for cell in cells),
                *(
                    part
                    for found in estimates(row, measures).values()
                    for part in estimate_cells(found)
                ),
            ]
            for row in rows
        ],
    )


def _measures(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    drawn, over = report.bootstrap, "jackknife over topics"
    resamples = f"bootstrap of topics, {drawn.n_resamples} resamples, seed {drawn.seed}"
    if drawn.caution:
        resamples += f"; {drawn.caution}"
    measures = [
        ("fleiss_kappa", over, report.all.kappa),
        ("fleiss_kappa", resamples, drawn),
        (f"krippendorff_alpha_{report.alpha_metric}", over, report.alpha),
        ("gwet_ac1", over, report.all.ac1),
        ("percent_agreement", over, report.all.percent),
        ("unanimous", None, report.unanimous),
        ("prevalence", over, report.all.prevalence),
    ]
    counts = {
        "items": report.n_items,
        "missing_ratings": report.n_missing,
        "possible_ratings": report.n_cells,
        "filtered_pairs": report.n_filtered,
        "topics": report.n_topics,
    }
    return Table(
        ["measure", "value", "low", "high", "n", "missing", "reason", "interval"],
        [[name, *estimate_cells(found), interval] for name, interval, found in measures]
        + [[name, count, *[None] * 6] for name, count in counts.items()],
    )


def _raters(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    plain = {
        "rater": "rater.name",
        "kind": "rater.kind",
        "n": "n",
        "missing": "n_missing",
        "answerable": "n_answerable",
        "highlights_exact": "n_exact",
        "highlights_normalised": "n_normalised",
        "highlights_not_in_text": "n_unlocated",
        "without_highlight": "n_unmarked",
    }
    return _table(report.raters, plain, OF_RATER)


def _pairs(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    return _table(report.pairs, {"a": "a.name", "b": "b.name"}, OF_PAIR)


def _parts(what: str, parts: Iterable[Part]) -> Table:
    plain = {what: "name", "items": "n_items", "missing_ratings": "n_missing"}
    return _table(parts, plain, OF_PART)


def _majority(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    plain = {"rater": "rater.name", "kind": "rater.kind", "without_majority": "n_dropped"}
    return _table(report.majority, plain, OF_MAJORITY)


def _coverage(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """One row a report: each rater's coverage, its questions and those without a rating."""
    header = ["report", "system", "topic"]
    for rater in report.columns:
        header += [rater.name, *(f"{rater.name}_{part}" for part in ("n", "unrated", "reason"))]
    rows: list[list[Cell]] = []
    for row in report.reports:
        cells: list[Cell] = [row.name, row.system, row.topic]
        for found in filter(None, (*row.coverage, row.judge)):
            cells += [found.value, found.n, found.missing, found.reason]
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


def _correlations(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    return _table(report.correlations, {"a": "a.name", "b": "b.name"}, OF_COVERAGE)


def _judge(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    """One row for all raters together, for each rater, and for each system."""
    plain = {"name": "name", "n": "n", "without_judge": "n_without_judge", **COUNTS}
    parts = {
        "all": [report.judge],
        "rater": report.judge_by_rater,
        "system": report.judge_by_system,
    }
    tables = {what: _table(rows, plain, AGAINST_JUDGE) for what, rows in parts.items()}
    return Table(
        ["part", *tables["all"].header],
        [[what, *row] for what, table in tables.items() for row in table.rows],
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


def _sweep(report: AgreementReport, judged: AgainstJudge | None) -> Table:
    assert judged is not None
    swept = _table(judged.sweep, {"eta": "eta", "n": "confusion.n", **COUNTS}, AT_ETA)
    return Table(["raters", *swept.header], [[judged.name, *row] for row in swept.rows])


TABLES: dict[str, Maker] = {
    "measures": _measures,
    "raters": _raters,
    "pairs": _pairs,
    "systems": lambda report, _: _parts("system", report.systems),
    "topics": lambda report, _: _parts("topic", report.topics),
    "majority": _majority,
    "coverage": _coverage,
    "means": _means,
    "correlations": _correlations,
    "judge": _judge,
    "confusion": _confusion,
    "sweep": _sweep,
}
AGAINST_A_JUDGE = ("judge", "confusion", "sweep")
