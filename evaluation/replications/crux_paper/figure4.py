"""Figure 4: coverage of each report by people and judge, and correlations of raters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.data.columns import Column as RaterColumn
from evaluation.data.corpus import TextRow
from evaluation.data.ratings import load
from evaluation.data.selection import Selection
from evaluation.replications.crux_paper.system_choice import Systems
from evaluation.replications.crux_paper.table_layout import (
    TAU,
    Block,
    Cell,
    Column,
    Line,
    PaperTable,
    Value,
    csv_text,
)
from evaluation.result_tables import estimate_cells, estimate_header
from evaluation.scoring.report_coverage import (
    Correlations,
    ReportRow,
    ReportRows,
    correlations,
    report_rows,
)
from evaluation.stats.estimate import Estimate

WIDE = 14  # more topics than this take both columns of a page


@dataclass(frozen=True)
class ReportCoverage:
    """Coverage of the reports that people rated, and its correlations between raters.

    `correlations` are of the judge with each person; where no judge rated these reports, of each
    two people.
    """

    people: tuple[RaterColumn, ...]
    judge: RaterColumn | None
    eta: int
    topics: tuple[str, ...]
    reports: ReportRows
    correlations: tuple[Correlations, ...]

    @property
    def is_wide(self) -> bool:
        """Return whether the figure takes both columns of a page."""
        return len(self.topics) > WIDE

    @property
    def systems(self) -> list[str]:
        return sorted(set(self.reports.systems))

    def with_judge(self, person: RaterColumn) -> Correlations | None:
        """Return the correlations of a person with the judge, if there is one."""
        pairs = (pair for pair in self.correlations if self.judge)
        return next((pair for pair in pairs if person in (pair.a, pair.b)), None)


def report_coverage(selection: Selection, systems: Systems = ()) -> ReportCoverage:
    """Return the coverage of the reports that people rated; no rows without such reports.

    Of `systems` alone, where some are named. References stay.
    """
    assert selection.eta is not None  # its rubric has a threshold
    matrix = load(selection)
    reports = report_rows(matrix)
    if systems:
        texts = [matrix.texts[pk] for pk in reports.texts.tolist()]
        reports = reports.take([n for n, text in enumerate(texts) if _is_included(text, systems)])
    pairs = correlations(matrix, reports)
    if selection.judge:
        pairs = tuple(pair for pair in pairs if selection.judge in (pair.a, pair.b))
    return ReportCoverage(
        people=selection.raters,
        judge=selection.judge,
        eta=selection.eta,
        topics=tuple(dict.fromkeys(reports.topics)),
        reports=reports,
        correlations=pairs,
    )


def _is_included(text: TextRow, systems: Systems) -> bool:
    return text.kind != "report" or text.system in systems


def coverage_csv(coverage: ReportCoverage) -> str:
    """Return a row for each report and rater as CSV.

    The value is the share answered; `missing` counts questions that are not rated.
    """
    rows: list[list[Value]] = [
        [report.system, report.topic, report.name, rater.name, rater.kind, *estimate_cells(value)]
        for report in coverage.reports
        for rater, value in by_rater(coverage, report)
    ]
    header = ["system", "topic", "report", "rater", "rater_kind", *estimate_header("coverage")]
    return csv_text(header, rows)


def correlation_csv(coverage: ReportCoverage) -> str:
    """Return a row for each two compared raters as CSV, over the reports that both finished."""
    rows: list[list[Value]] = []
    for pair in coverage.correlations:
        kinds = (pair.pearson, pair.spearman, pair.kendall)
        cells = [
            value
            for correlation in kinds
            for value in (*estimate_cells(correlation), correlation.p)
        ]
        rows.append([pair.a.name, pair.b.name, *cells])
    names = ("pearson", "spearman", "kendall")
    columns = [column for name in names for column in (*estimate_header(name), f"{name}_p")]
    return csv_text(["a", "b", *columns], rows)


def coverage_table(coverage: ReportCoverage) -> PaperTable:
    """Return the table of the figure: a line for each report, a column for each rater."""
    raters = (*coverage.people, *([coverage.judge] if coverage.judge else []))
    blocks = []
    for system, indices in coverage.reports.by_system().items():
        lines = []
        for report in coverage.reports.take(indices):
            values = {rater: Cell(value) for rater, value in by_rater(coverage, report)}
            cells = tuple(values.get(rater) for rater in raters)
            lines.append(Line(f"{system}, {report.topic}", cells))
        blocks.append(Block(system, tuple(lines)))
    return PaperTable(
        label="figure4_values",
        stub="Report",
        columns=tuple(Column(rater.name, rater.title, rater.title) for rater in raters),
        blocks=tuple(blocks),
        caption=(
            "Coverage of each report as each rater sees it, in percent. n counts its questions, and "
            "missing are those that are not rated."
        ),
    )


def correlation_table(coverage: ReportCoverage) -> PaperTable:
    """Return the table of correlations: a line for each two compared raters."""
    names = ("Pearson r", "Spearman ρ", "Kendall τ")
    lines = (
        Line(
            f"{pair.a.title}, {pair.b.title}",
            tuple(Cell(value, TAU) for value in (pair.pearson, pair.spearman, pair.kendall)),
        )
        for pair in coverage.correlations
    )
    return PaperTable(
        label="figure4_correlations",
        stub="Raters",
        columns=tuple(Column(name, name, name) for name in names),
        blocks=(Block("pairs", tuple(lines)),),
        caption="Correlations of coverage between two raters, over the reports that both have finished.",
    )


def by_rater(coverage: ReportCoverage, report: ReportRow) -> Iterator[tuple[RaterColumn, Estimate]]:
    """Yield each person, then the judge, with the report's coverage by that rater."""
    yield from zip(coverage.people, report.coverage, strict=True)
    if coverage.judge and report.judge:
        yield coverage.judge, report.judge
