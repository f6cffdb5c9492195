"""Each table and figure of a dataset as files, or the reason why it cannot be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from annotation.models import Dataset
from annotation.models.standard import ANSWERABLE
from evaluation.data.selection import Selection, SelectionError, select
from evaluation.paper import table1, table2, table3
from evaluation.paper.drawing import draw
from evaluation.paper.figure4 import (
    ReportCoverage,
    correlation_csv,
    coverage_csv,
    is_wide,
    paint_coverage,
    report_coverage,
)
from evaluation.paper.figure5 import heat, heat_csv, paint_heat
from evaluation.paper.latex import latex, latex_figure
from evaluation.paper.names import COVERAGE_Y, FIGURE_5
from evaluation.paper.sheet import Sheet, sheet_csv
from evaluation.paper.systems import compared, conditions, n_scored, values
from evaluation.scoring.options import Options
from evaluation.scoring.score import Scores, score

Files = dict[str, bytes]


class NotMadeError(Exception):
    """A table or figure that cannot be made of this dataset; the message says why."""


class Parts:
    """The tables and figures of a dataset under options."""

    def __init__(self, dataset: Dataset, options: Options, *, intervals: bool = False) -> None:
        self.dataset = dataset
        self.options = options
        self._intervals = intervals

    def all(self) -> Mapping[str, Callable[[], Files]]:
        """What there is, by name. Each raises NotMadeError where it cannot be made."""
        return {
            "table1": self.table1,
            "table2": self.table2,
            "table3": self.table3,
            "figure4": self.figure4,
            "figure5": self.figure5,
        }

    def table1(self) -> Files:
        scores = self._scored()
        if not compared(scores):
            raise NotMadeError("the dataset has neither retrieval runs nor reports")
        return self._sheet(table1.table1(scores, self.dataset.slug))

    def table2(self) -> Files:
        self._needs_runs()
        by_eta = {eta: self._scored(eta=eta) for eta in table2.ETAS}
        return self._sheet(table2.table2(by_eta, self.dataset.slug))

    def table3(self) -> Files:
        self._needs_runs()
        if np.isnan(values(self._scored(), COVERAGE_Y)).all():
            raise NotMadeError("no report of a compared system has a coverage: none is rated")
        by_size = {size: self._scored(cutoff=size) for size in table3.SIZES}
        sheet = table3.table3(by_size, self.dataset.slug)
        cells = [cell.estimate for line in sheet.lines for cell in line.cells if cell is not None]
        if all(cell.value is None for cell in cells):
            raise NotMadeError(f"no correlation is defined: {_plain(cells[0].reason)}")
        return self._sheet(sheet)

    def figure4(self) -> Files:
        if self.options.questions:
            raise NotMadeError("it is of all questions, and not of one kind")
        coverage = report_coverage(self._selection())
        if not coverage.reports:
            raise NotMadeError("no person has rated a report")
        caption = _coverage_caption(coverage, self.dataset.slug)
        return self._figure("figure4", draw(lambda figure: paint_coverage(figure, coverage))) | {
            "figure4.csv": coverage_csv(coverage).encode(),
            "figure4_correlations.csv": correlation_csv(coverage).encode(),
            "figure4.tex": latex_figure("figure4", caption, wide=is_wide(coverage)).encode(),
        }

    def figure5(self) -> Files:
        self._needs_runs()
        scores = self._scored()
        correlations = heat({metric: values(scores, metric) for metric in FIGURE_5})
        reasons = [tau.reason for tau in correlations.taus.values()]
        if all(reasons):
            why = _plain(reasons[0]) if reasons else "fewer than two metrics are defined"
            raise NotMadeError(f"no correlation is defined: {why}")
        without = (
            ""
            if COVERAGE_Y in correlations.metrics
            else " Cov(y) is left out: it is defined nowhere."
        )
        caption = (
            f"Kendall τ (tau-b) between metrics over the systems of {self.dataset.slug} that have "
            f"all {n_scored(scores)} topics, without the reference bounds.{without} "
            f"Hatched: undefined. {conditions(self.options)}"
        )
        return self._figure("figure5", draw(lambda figure: paint_heat(figure, correlations))) | {
            "figure5.csv": heat_csv(correlations).encode(),
            "figure5.tex": latex_figure("figure5", caption).encode(),
        }

    def _scored(self, **changes: Any) -> Scores:
        """The scores with some options changed. Those without a change are kept."""
        options = replace(self.options, **changes)
        return self._scores if options == self.options else score(self.dataset, options)

    @cached_property
    def _scores(self) -> Scores:
        return score(self.dataset, self.options)

    def _needs_runs(self) -> None:
        if not any(system.contexts for system in compared(self._scored())):
            raise NotMadeError("the dataset has no retrieval runs but those of an oracle")

    def _selection(self) -> Selection:
        """The people's ratings of reports, and the judge's where it rated the same reports."""
        try:
            alone = select(self.dataset, rubric=ANSWERABLE.slug, eta=self.options.eta)
            judge = self.options.source.rater
            if judge is None or judge.pk not in (column.pk for column in alone.judges):
                return alone
            return select(
                self.dataset, rubric=ANSWERABLE.slug, judge=judge.name, eta=self.options.eta
            )
        except SelectionError as error:
            raise NotMadeError(str(error)) from error

    def _sheet(self, sheet: Sheet) -> Files:
        return {
            f"{sheet.label}.csv": sheet_csv(sheet).encode(),
            f"{sheet.label}.tex": latex(sheet, intervals=self._intervals).encode(),
        }

    def _figure(self, label: str, drawn: Mapping[str, bytes]) -> Files:
        return {f"{label}.{kind}": content for kind, content in drawn.items()}


def _coverage_caption(coverage: ReportCoverage, dataset: str) -> str:
    people = f"{len(coverage.people)} people" if len(coverage.people) != 1 else "one person"
    judged = (
        f"the line {coverage.judge.title} at η = {coverage.eta}. r (Pearson) and ρ (Spearman) are between "
        "it and each person"
        if coverage.judge
        else "the chosen judge has rated none of them. r (Pearson) and ρ (Spearman) are between "
        "people"
    )
    return (
        f"Coverage of {len(coverage.reports)} reports of {dataset} on {len(coverage.topics)} topics, by "
        f"system: bars are the mean of {people}, marks each of them, {judged}, over the reports "
        "that both have finished. A hollow mark is a report not finished."
    )


def _plain(reason: str | None) -> str:
    return (reason or "").removeprefix("undefined, because ")
