"""Geometry of the coverage bar charts and of the confusion tables of the agreement page."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from annotation.decimals import printed
from annotation.plurals import n_of
from evaluation.agreement.report import AgreementReport
from evaluation.agreement.truncation import TruncatedRows, truncate_rows
from evaluation.charts import shape, svg_number
from evaluation.data.columns import Column
from evaluation.scoring.report_coverage import ReportRow, ReportRows
from evaluation.stats.estimate import Estimate, IntArray

PLOT_LEFT, RIGHT, TOP, BOTTOM = 34, 388, 30, 196


FEWEST_COLUMNS = 6


LABELLED = 30  # reports up to which their numbers fit


MOST_BARS = 40  # reports up to which their bars fit


MOST_PANELS = 12


@dataclass(frozen=True)
class SystemReports:
    """Reports of one system, from the highest coverage to the lowest.

    By the judge where it has a value for all of them (`is_judged`), else by the mean of the raters. Of
    many, `reports` are some, the first and the last among them; `n_reports` counts all.
    """

    system: str
    reports: tuple[ReportRow, ...]
    n_reports: int
    is_judged: bool


@dataclass(frozen=True)
class Bar:
    """Column of one report. `line` is the raters' mean; `says` is the text of the tooltip."""

    report: ReportRow
    number: str
    x: str
    left: str
    width: str
    line: str
    height: str
    is_rated: bool
    says: str
    hit_left: str
    hit_width: str

    @property
    def right(self) -> str:
        return svg_number(float(self.left) + float(self.width))


@dataclass(frozen=True)
class Panel:
    """Drawing of the reports of one system; `n_reports` counts also those without a bar."""

    system: str
    n_reports: int
    grid: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]
    marks: tuple[tuple[int, str], ...]
    """The mark of each rater who has one here, and a path that draws it at each coverage."""
    judge: str
    """Points of the judge's line, empty where it rated too little."""

    @property
    def is_thinned(self) -> bool:
        return len(self.bars) < self.n_reports


@dataclass(frozen=True)
class ConfusionCell:
    """Cell of a confusion matrix. `name` is its quadrant at eta, such as "tp".

    `share` is its part of the row, None in an empty row.
    """

    level: int
    n: int
    share: float | None
    name: str
    shade: int
    looks: str


@dataclass(frozen=True)
class ConfusionRow:
    level: int
    cells: tuple[ConfusionCell, ...]
    total: int


def confusion_rows(matrix: IntArray, levels: Sequence[int], eta: int | None) -> list[ConfusionRow]:
    """Return a confusion table with shades, and with heavy lines where answerable begins.

    Without an eta only equal levels agree.
    """
    largest = int(np.max(matrix, initial=0))

    def cell(human: int, level: int, n: int, total: int) -> ConfusionCell:
        name = "" if eta is None else (("tn", "fp"), ("fn", "tp"))[human >= eta][level >= eta]
        css_classes = [
            "edge-top" if human == eta else "",
            "edge-left" if level == eta else "",
            "agree" if (name in ("tp", "tn") if name else human == level) else "",
        ]
        # The square root keeps the rare cells apart from the empty ones.
        shade = ceil(5 * sqrt(n / largest)) if largest else 0
        share = n / total if total else None
        return ConfusionCell(level, n, share, name, shade, " ".join(filter(None, css_classes)))

    return [
        ConfusionRow(
            human,
            tuple(cell(human, level, n, sum(row)) for level, n in zip(levels, row, strict=True)),
            sum(row),
        )
        for human, row in zip(levels, matrix.tolist(), strict=True)
    ]


def coverage_by_system(
    report: AgreementReport, *, everything: bool = False, max_reports: int
) -> TruncatedRows[SystemReports]:
    """Return the reports of each system, in the order in which figures show them.

    Of many systems, those whose mean is furthest from the mean of all, or `everything`; of more than
    `max_reports` of a system, some at even distances.
    """
    rows = report.reports
    by_system = rows.by_system()
    means = np.nan_to_num(rows.means)
    systems = truncate_rows(
        list(by_system),
        lambda system: float(means[by_system[system]].mean()),
        everything=everything,
        limit=MOST_PANELS,
    )
    reports = tuple(
        _system_reports(system, rows.take(by_system[system]), max_reports)
        for system in systems.rows
    )
    return TruncatedRows(reports, systems.n, systems.mean)


def _system_reports(system: str, rows: ReportRows, max_reports: int) -> SystemReports:
    judged = rows.judge_coverage
    is_judged = judged is not None and not np.isnan(judged).any()
    coverage = judged if judged is not None and is_judged else np.nan_to_num(rows.means)
    order = np.argsort(-coverage, kind="stable")
    if len(order) > max_reports:
        order = order[np.linspace(0, len(order) - 1, max_reports).round().astype(int)]
    return SystemReports(system, tuple(rows.take(order.tolist())), len(rows), is_judged)


def coverage_panels(report: AgreementReport, *, everything: bool = False) -> TruncatedRows[Panel]:
    """Return the panels of figure 4 of the paper: one for each system, a bar for each report.

    A bar is the mean of the raters' coverage.
    """
    systems = coverage_by_system(report, everything=everything, max_reports=MOST_BARS)
    panels = tuple(_panel(of_system, report) for of_system in systems.rows)
    return TruncatedRows(panels, systems.n, systems.mean)


def _panel(of_system: SystemReports, report: AgreementReport) -> Panel:
    raters, judge, ordered = report.selection.raters, report.selection.judge, of_system.reports
    step = (RIGHT - PLOT_LEFT) / max(len(ordered), FEWEST_COLUMNS)
    bars = tuple(
        _bar(row, index, step, raters, judge, len(ordered)) for index, row in enumerate(ordered)
    )
    spacing = min(8.0, step * 0.8 / max(len(raters), 1))
    paths: dict[int, list[str]] = {}
    for index, row in enumerate(ordered):
        for position, (rater, share) in enumerate(zip(raters, row.coverage, strict=True)):
            if share.value is not None:
                x = _x(index, step) + (position - (len(raters) - 1) / 2) * spacing
                paths.setdefault(position, []).append(shape(rater.mark, x, _y(share.value)))
    line = [
        f"{bar.x},{svg_number(_y(row.judge.value or 0.0))}"
        for bar, row in zip(bars, ordered, strict=True)
        if row.judge and of_system.is_judged
    ]
    grid = tuple((f"{share:.1f}", svg_number(_y(share))) for share in (0.0, 0.5, 1.0))
    marks = tuple((raters[position].mark, "".join(paths[position])) for position in sorted(paths))
    return Panel(of_system.system, of_system.n_reports, grid, bars, marks, " ".join(line))


def _bar(
    row: ReportRow,
    index: int,
    step: float,
    raters: Sequence[Column],
    judge: Column | None,
    n_bars: int,
) -> Bar:
    x, mean = _x(index, step), _y(row.mean or 0.0)
    shares = list(zip(raters, row.coverage, strict=True))
    defined = [(rater, share) for rater, share in shares if share.value is not None]
    n_undefined, is_rated = len(shares) - len(defined), bool(defined)
    if judge and row.judge:
        defined.append((judge, row.judge))
    values = [f"{column.title} {_format_share(share)}" for column, share in defined]
    if n_undefined:  # counted: twenty people grade a study, and five of them a report
        values.append(f"undefined for {n_of(n_undefined, 'rater')}")
    return Bar(
        report=row,
        number=str(index + 1) if n_bars <= LABELLED else "",
        x=svg_number(x),
        left=svg_number(x - step * 0.33),
        width=svg_number(step * 0.66),
        line=svg_number(mean),
        height=svg_number(BOTTOM - mean),
        is_rated=is_rated,
        says=f"{row.name}: {', '.join(values)}",
        hit_left=svg_number(x - step / 2),
        hit_width=svg_number(step),
    )


def _format_share(share: Estimate) -> str:
    if share.value is None:
        return "undefined"
    return printed(share.value) + (f" ({share.missing} not rated)" if share.missing else "")


def _x(index: int, step: float) -> float:
    return PLOT_LEFT + step * (index + 0.5)


def _y(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share
