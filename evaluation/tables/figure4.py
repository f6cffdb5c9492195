"""The data of Figure 4: coverage of each report as people and a judge see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.agreement.estimate import Estimate
from evaluation.agreement_page.coverage import Correlations, ReportRow, correlations, report_rows
from evaluation.csv_tables import estimate_cells, estimate_header
from evaluation.matrices import load
from evaluation.selection import Column, Selection
from evaluation.tables.sheet_csv import Value, csv_text


@dataclass(frozen=True)
class ReportCoverage:
    """Coverage of the reports that people rated, and how far it goes together between raters.

    `correlations` are of the judge with each person; where no judge rated these reports, of every
    two people.
    """

    people: tuple[Column, ...]
    judge: Column | None
    eta: int
    topics: tuple[str, ...]
    reports: tuple[ReportRow, ...]
    correlations: tuple[Correlations, ...]

    @property
    def systems(self) -> list[str]:
        return sorted({report.system for report in self.reports})

    def with_judge(self, person: Column) -> Correlations | None:
        """The correlations of a person with the judge, if there is one."""
        pairs = (pair for pair in self.correlations if self.judge)
        return next((pair for pair in pairs if person in (pair.a, pair.b)), None)


def report_coverage(selection: Selection) -> ReportCoverage:
    """Coverage of what the people of a selection rated; without rated reports there are no rows."""
    reports = report_rows(load(selection))
    pairs = correlations(selection, reports)
    if selection.judge:
        pairs = tuple(pair for pair in pairs if selection.judge in (pair.a, pair.b))
    return ReportCoverage(
        people=selection.raters,
        judge=selection.judge,
        eta=selection.eta,
        topics=tuple(dict.fromkeys(report.topic for report in reports)),
        reports=reports,
        correlations=pairs,
    )


def coverage_csv(found: ReportCoverage) -> str:
    """A row for every report and rater: the value counts what is answered, `missing` what is not
    rated.
    """
    rows: list[list[Value]] = [
        [report.system, report.topic, report.name, rater.name, rater.kind, *estimate_cells(value)]
        for report in found.reports
        for rater, value in by_rater(found, report)
    ]
    header = ["system", "topic", "report", "rater", "rater_kind", *estimate_header("coverage")]
    return csv_text(header, rows)


def correlation_csv(found: ReportCoverage) -> str:
    """A row for every two raters that are compared, over the reports that both have finished."""
    rows: list[list[Value]] = []
    for pair in found.correlations:
        kinds = (pair.pearson, pair.spearman, pair.kendall)
        cells = [value for one in kinds for value in (*estimate_cells(one), one.p)]
        rows.append([pair.a.name, pair.b.name, *cells])
    names = ("pearson", "spearman", "kendall")
    columns = [column for name in names for column in (*estimate_header(name), f"{name}_p")]
    return csv_text(["a", "b", *columns], rows)


def by_rater(found: ReportCoverage, report: ReportRow) -> Iterator[tuple[Column, Estimate]]:
    """Each person, then the judge, with the coverage of the report as that rater sees it."""
    yield from zip(found.people, report.coverage, strict=True)
    if found.judge and report.judge:
        yield found.judge, report.judge
