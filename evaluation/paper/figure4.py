"""Figure 4: coverage of each report as people and a judge see it; its data, and a panel for each system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from evaluation.csv_tables import estimate_cells, estimate_header
from evaluation.data.columns import Column
from evaluation.data.ratings import load
from evaluation.data.selection import Selection
from evaluation.paper.drawing import COLUMN, INK, PAGE
from evaluation.paper.sheet import Value, csv_text
from evaluation.scoring.report_coverage import Correlations, ReportRow, correlations, report_rows
from evaluation.stats.estimate import Estimate, FloatArray


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
    assert selection.eta is not None  # it is of answers of yes and no
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


def coverage_csv(coverage: ReportCoverage) -> str:
    """A row for every report and rater: the value counts what is answered, `missing` what is not
    rated.
    """
    rows: list[list[Value]] = [
        [report.system, report.topic, report.name, rater.name, rater.kind, *estimate_cells(value)]
        for report in coverage.reports
        for rater, value in by_rater(coverage, report)
    ]
    header = ["system", "topic", "report", "rater", "rater_kind", *estimate_header("coverage")]
    return csv_text(header, rows)


def correlation_csv(coverage: ReportCoverage) -> str:
    """A row for every two raters that are compared, over the reports that both have finished."""
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


def by_rater(coverage: ReportCoverage, report: ReportRow) -> Iterator[tuple[Column, Estimate]]:
    """Each person, then the judge, with the coverage of the report as that rater sees it."""
    yield from zip(coverage.people, report.coverage, strict=True)
    if coverage.judge and report.judge:
        yield coverage.judge, report.judge


# Colours of Okabe and Ito, which colour-blind people tell apart, each with a shape of its own.
MARKS = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#cc79a7", "D"), ("#e69f00", "v"))
ANYBODY = ("#56788c", ".")  # where there are more people than marks
BAR = "#d9e0e4"
WIDE = 14  # more topics than this take both columns of a page
SIZE = 3.4  # of a mark, in points
THIN = 0.9
NAMED = 3  # as many pairs of people as the legend holds


def paint_coverage(figure: Figure, coverage: ReportCoverage) -> None:
    """Bars are the mean of the people, marks the people, the line the judge.

    A report that a rater has not finished is a hollow mark and enters no mean.
    """
    legend = _legend(coverage)
    size, systems = len(coverage.topics), coverage.systems
    width = PAGE if is_wide(coverage) else COLUMN
    figure.set_size_inches(width, 0.5 + 0.9 * len(systems) + 0.14 * len(legend))
    panels = figure.subplots(len(systems), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, system in zip(panels, systems, strict=True):
        axes.set_title(system, loc="left", pad=3)
        axes.set_ylim(0, 1.04)
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_xlim(-0.6, size - 0.4)
        axes.tick_params(axis="x", length=0)
        _panel(axes, coverage, [report for report in coverage.reports if report.system == system])
    prefix = _shared_beginning(coverage.topics)
    step = -(-size // round(9 * width))  # as many names as have room
    ticks = range(0, size, step)
    panels[-1].set_xticks(ticks, [coverage.topics[place].removeprefix(prefix) for place in ticks])
    panels[-1].set_xlabel(f"topic {prefix}…" if prefix else "topic")
    figure.supylabel("coverage of the report", fontsize=7)
    figure.legend(
        handles=legend,
        loc="outside upper left",
        ncols=2 if len(legend) > len(coverage.people) + bool(coverage.judge) else 1,
        frameon=False,
        borderpad=0,
        handlelength=1.2,
    )


def is_wide(coverage: ReportCoverage) -> bool:
    """Whether the figure takes both columns of a page."""
    return len(coverage.topics) > WIDE


def _panel(axes: Axes, coverage: ReportCoverage, reports: Sequence[ReportRow]) -> None:
    place = {topic: index for index, topic in enumerate(coverage.topics)}
    x = np.array([place[report.topic] for report in reports], dtype=np.float64)
    means = [_mean(report.coverage) for report in reports]
    axes.bar(x, means, width=0.72, color=BAR, zorder=1)
    n = len(coverage.people)
    for rater in range(n):
        shift = 0.4 * ((rater + 0.5) / n - 0.5)
        values = [report.coverage[rater] for report in reports]
        _marks(axes, x + shift, values, *_mark(rater, n))
    if coverage.judge:
        order = np.argsort(x)
        judged = [reports[place].judge for place in order]
        line = [
            np.nan if estimate is None or estimate.value is None else estimate.value
            for estimate in judged
        ]
        axes.plot(x[order], line, color=INK, linewidth=THIN, zorder=2)
        _marks(axes, x[order], [estimate for estimate in judged if estimate], INK, "x")


def _marks(axes: Axes, x: FloatArray, values: Sequence[Estimate], colour: str, shape: str) -> None:
    for place, estimate in zip(x.tolist(), values, strict=True):
        if estimate.value is None:
            continue
        axes.plot(
            place,
            estimate.value,
            shape,
            color=colour,
            markerfacecolor="white" if estimate.missing else colour,
            markersize=SIZE,
            markeredgewidth=0.7,
            zorder=3,
            clip_on=False,
        )


def _legend(coverage: ReportCoverage) -> list[Line2D]:
    n = len(coverage.people)
    entries: list[Line2D] = []
    if coverage.judge:
        says = f"{coverage.judge.title}, η = {coverage.eta}"
        entries.append(_entry(says, INK, "x", linestyle="solid"))
    if n > len(MARKS):
        return [*entries, _entry(f"{n} people", *ANYBODY)]
    for rater, person in enumerate(coverage.people):
        pair = coverage.with_judge(person)
        says = f"{person.title}: {_both(pair)}" if pair else person.title
        entries.append(_entry(says, *_mark(rater, n)))
    if not coverage.judge and len(coverage.correlations) <= NAMED:
        pairs = ((f"{p.a.title}, {p.b.title}", _both(p)) for p in coverage.correlations)
        entries += [_entry(f"{names}: {both}", INK, "") for names, both in pairs]
    return entries


def _entry(
    says: str, colour: str, shape: str, linestyle: Literal["none", "solid"] = "none"
) -> Line2D:
    return Line2D(
        [],
        [],
        color=colour,
        marker=shape,
        markersize=SIZE,
        linestyle=linestyle,
        linewidth=THIN,
        label=says,
    )


def _both(pair: Correlations) -> str:
    """Pearson's r and Spearman's ρ: the paper names the one where it shows the other."""
    return f"r = {_number(pair.pearson)}, ρ = {_number(pair.spearman)}"


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{estimate.value:z.2f}".replace("-", "−")


def _mark(rater: int, n: int) -> tuple[str, str]:
    return MARKS[rater] if n <= len(MARKS) else ANYBODY


def _mean(values: Sequence[Estimate]) -> float:
    finished = [
        estimate.value for estimate in values if estimate.value is not None and not estimate.missing
    ]
    return float(np.mean(finished)) if finished else float("nan")


def _shared_beginning(names: Sequence[str]) -> str:
    """What all names begin with, up to a sign that parts words; nothing for a single name."""
    if len(names) < 2:
        return ""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    shared = "".join(letters[0] for letters in same)
    while shared and shared[-1].isalnum():
        shared = shared[:-1]
    return shared
