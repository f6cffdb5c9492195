"""Tables and figures of a dataset before typesetting, or the reasons why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, get_args

import numpy as np

from annotation.models import Dataset
from annotation.models.standard import ANSWERABLE
from annotation.plurals import n_of
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.selection import Selection, SelectionError, select
from evaluation.replications.crux_paper import table1, table2, table3
from evaluation.replications.crux_paper.figure4 import (
    ReportCoverage,
    correlation_csv,
    correlation_table,
    coverage_csv,
    coverage_table,
    report_coverage,
)
from evaluation.replications.crux_paper.figure5 import Heat, heat, heat_csv, heat_table
from evaluation.replications.crux_paper.latex import latex, latex_figure
from evaluation.replications.crux_paper.names import COVERAGE_Y, FIGURE_5
from evaluation.replications.crux_paper.system_choice import Systems, scores_of, system_names
from evaluation.replications.crux_paper.systems import compared, conditions, n_scored, values
from evaluation.replications.crux_paper.table_layout import PaperTable, table_csv
from evaluation.scoring.options import Options
from evaluation.scoring.score import Scores, score, scores_of_all

Kind = Literal["svg", "png", "pdf"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""File formats of a drawn figure."""

Files = dict[str, bytes]
Texts = dict[str, Callable[[], str]]


@dataclass(frozen=True)
class Figure:
    """Figure as its data: drawing it takes Matplotlib, which not every site has."""

    label: str
    caption: str
    data: ReportCoverage | Heat

    @property
    def is_wide(self) -> bool:
        """Return whether the figure takes both columns of a page."""
        return isinstance(self.data, ReportCoverage) and self.data.is_wide

    @property
    def drawings(self) -> dict[str, Kind]:
        """Kinds of its drawn files, by name."""
        return {f"{self.label}.{kind}": kind for kind in KINDS}

    @property
    def tables(self) -> tuple[PaperTable, ...]:
        """Tables of its numbers."""
        if isinstance(self.data, Heat):
            return (heat_table(self.data),)
        return (correlation_table(self.data), coverage_table(self.data))


Part = PaperTable | Figure


@dataclass(frozen=True)
class PaperParts:
    """Tables and figures by name, and the reason of each that was not made."""

    parts: dict[str, Part] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def make_parts(dataset: Dataset, options: Options, systems: Systems = ()) -> PaperParts:
    """Make all tables and figures of a dataset, of these systems or of all. Nothing is drawn."""
    result = PaperParts()
    parts = Parts(dataset, options, systems)
    for name, make in parts.all().items():
        try:
            part = make()
        except PartError as error:
            result.left_out[name] = str(error)
        else:
            result.parts[name] = replace(part, caption=f"{part.caption}{parts.which_systems}")
    return result


def cached_parts(dataset: Dataset, options: Options, systems: Systems = ()) -> PaperParts:
    """Return `make_parts` from the cache, which is invalidated when the data change."""
    key = (CacheKey.PAPER_PARTS, options, systems)
    return cached(dataset, key, lambda: make_parts(dataset, options, systems))


def text_files(part: Part, *, intervals: bool = False) -> Texts:
    """Return a maker for each CSV and LaTeX file of a table or figure, by name.

    `intervals` prints them in a table's LaTeX.
    """
    if isinstance(part, PaperTable):
        return {
            f"{part.label}.csv": partial(table_csv, part),
            f"{part.label}.tex": partial(latex, part, intervals=intervals),
        }
    if isinstance(part.data, Heat):
        files: Texts = {f"{part.label}.csv": partial(heat_csv, part.data)}
    else:
        files = {
            f"{part.label}.csv": partial(coverage_csv, part.data),
            f"{part.label}_correlations.csv": partial(correlation_csv, part.data),
        }
    caption = partial(latex_figure, part.label, part.caption, wide=part.is_wide)
    return files | {f"{part.label}.tex": caption}


class PartError(Exception):
    """Table or figure that cannot be made of this dataset; the message is the reason."""


class Parts:
    """Tables and figures of a dataset under options, of the chosen systems."""

    def __init__(self, dataset: Dataset, options: Options, systems: Systems = ()) -> None:
        self.dataset = dataset
        self.options = options
        self.systems = systems

    @cached_property
    def which_systems(self) -> str:
        """Sentence on the choice of systems for captions; empty where all are taken."""
        n_systems = len(system_names(self.dataset)) if self.systems else 0
        chosen = len(self.systems)
        if chosen == n_systems:
            return ""
        return f" Of {n_systems} systems {chosen} {'is' if chosen == 1 else 'are'} chosen."

    def all(self) -> Mapping[str, Callable[[], Part]]:
        """Return a maker for each table and figure, by name. Each may raise PartError."""
        return {
            "table1": self.table1,
            "table2": self.table2,
            "table3": self.table3,
            "figure4": self.figure4,
            "figure5": self.figure5,
        }

    def table1(self) -> PaperTable:
        scores = self._scored()
        if not compared(scores):
            raise PartError(
                "only references are chosen, but the table compares systems"
                if self.systems
                else "the dataset has neither retrieval runs nor reports"
            )
        return table1.table1(scores, self.dataset.slug)

    def table2(self) -> PaperTable:
        self._needs_runs()
        by_eta = {eta: self._scored(eta=eta) for eta in table2.ETAS}
        return table2.table2(by_eta, self.dataset.slug)

    def table3(self) -> PaperTable:
        self._needs_runs()
        if np.isnan(values(self._scored(), COVERAGE_Y)).all():
            raise PartError("no report of a compared system has a coverage: none is rated")
        by_size = {size: self._scored(cutoff=size) for size in table3.SIZES}
        table = table3.table3(by_size, self.dataset.slug)
        cells = [cell.estimate for line in table.lines for cell in line.cells if cell is not None]
        if all(cell.value is None for cell in cells):
            raise PartError(f"no correlation is defined: {_without_prefix(cells[0].reason)}")
        return table

    def figure4(self) -> Figure:
        if self.options.questions:
            raise PartError("it is of all questions, and not of one kind")
        coverage = report_coverage(self._selection(), self.systems)
        if not coverage.reports:
            restriction = " of the chosen systems" if self.systems else ""
            raise PartError(f"no person has rated a report{restriction}")
        return Figure("figure4", _coverage_caption(coverage, self.dataset.slug), coverage)

    def figure5(self) -> Figure:
        self._needs_runs()
        scores = self._scored()
        correlations = heat({metric: values(scores, metric) for metric in FIGURE_5})
        reasons = [tau.reason for tau in correlations.taus.values()]
        if all(reasons):
            reason = (
                _without_prefix(reasons[0]) if reasons else "fewer than two metrics are defined"
            )
            raise PartError(f"no correlation is defined: {reason}")
        omission = (
            ""
            if COVERAGE_Y in correlations.metrics
            else " Cov(y) is left out: it is defined nowhere."
        )
        caption = (
            f"Kendall τ (tau-b) between metrics over the systems of {self.dataset.slug} that have "
            f"all {n_scored(scores)} topics, without the reference bounds.{omission} "
            f"Hatched: undefined. {conditions(self.options)}"
        )
        return Figure("figure5", caption, correlations)

    def _scored(self, **changes: Any) -> Scores:
        """Return the scores with some options changed; cached if none is."""
        options = replace(self.options, **changes)
        if options == self.options:
            return self._scores
        return scores_of(score(self.dataset, options), self.systems)

    @cached_property
    def _scores(self) -> Scores:
        return scores_of(scores_of_all(self.dataset, self.options), self.systems)

    @property
    def _subject(self) -> str:
        return "the chosen systems have" if self.systems else "the dataset has"

    def _needs_runs(self) -> None:
        if not any(system.contexts for system in compared(self._scored())):
            raise PartError(f"{self._subject} no retrieval runs but those of an oracle")

    def _selection(self) -> Selection:
        """Return the people's ratings of reports, with the judge if it rated the same reports."""
        try:
            people = select(self.dataset, rubric=ANSWERABLE.slug, eta=self.options.eta)
            judge = self.options.source.rater
            if judge is None or judge.pk not in (column.pk for column in people.judges):
                return people
            return select(
                self.dataset, rubric=ANSWERABLE.slug, judge=judge.name, eta=self.options.eta
            )
        except SelectionError as error:
            raise PartError(str(error)) from error


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
        f"Coverage of {n_of(len(coverage.reports), 'report')} of {dataset} on "
        f"{n_of(len(coverage.topics), 'topic')}, by system: bars are the mean of {people}, marks each "
        f"of them, {judged}, over the reports "
        "that both have finished. A hollow mark is a report not finished."
    )


def _without_prefix(reason: str | None) -> str:
    return (reason or "").removeprefix("undefined, because ")
