"""Interactive figures of agreement: coverage of reports, and the judge at each eta."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape

import plotly.graph_objects as go

from annotation.decimals import printed
from annotation.plurals import n_of
from evaluation.agreement.coverage_chart import SystemReports, coverage_by_system
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.report import AgreementReport
from evaluation.agreement.sweep_chart import CHARTS, score_axis
from evaluation.agreement.tags import agreement_url, pairs_url
from evaluation.agreement.threshold import AtEta
from evaluation.charts import axis_of
from evaluation.data.columns import Column
from evaluation.data.selection import Selection
from evaluation.figures import (
    INK,
    SYMBOLS,
    Cell,
    ExplorePage,
    FigureTable,
    Json,
    Panel,
    estimate_cell,
    format_estimate,
    interval_bars,
    stacked_panels,
)
from evaluation.scoring.report_coverage import ReportRow
from evaluation.stats.estimate import Estimate

MAX_REPORTS = 200  # of a system in the figure
COVERAGE_AXIS = "coverage<br>(share of sub-questions)"
ETA_AXIS = "η (lowest grade that counts as answerable)"
DASHES = ("solid", "dash", "dot")
LABELS = {name: label for names in CHARTS.values() for name, label in names.items()}


def coverage_page(
    report: AgreementReport, judged: AgainstJudge | None, params: Mapping[str, str]
) -> ExplorePage:
    """Return coverage of each report by each rater and the judge, in a panel for each system."""
    selection = report.selection
    systems = coverage_by_system(
        report, everything=params.get("rows") == "all", max_reports=MAX_REPORTS
    )
    n_shown = sum(len(of_system.reports) for of_system in systems.rows)
    summary = f"{n_of(n_shown, 'report')} of {n_of(len(systems.rows), 'system')}."
    if n_shown < len(report.reports):
        summary += f" A file of the page Agreement has all {n_of(len(report.reports), 'report')}."
    return ExplorePage(
        title="Coverage of each report",
        file_name=f"{selection.dataset.slug}-coverage",
        back_url=agreement_url(selection, rows=params.get("rows")),
        back_title="Agreement",
        summary=summary if n_shown else "",
        figure=coverage_figure(systems.rows, selection) if n_shown else None,
        tables=(_coverage_table(systems.rows, selection),),
        point_target="the pairs of the report",
        empty="The figure is empty: these raters have not rated a report under this rubric.",
    )


def coverage_figure(systems: Sequence[SystemReports], selection: Selection) -> Json:
    """Return bars of the raters' mean, points of each rater, and the line of the judge."""
    return stacked_panels(
        [
            _coverage_panel(of_system, selection, is_first=index == 0)
            for index, of_system in enumerate(systems)
        ]
    )


def _coverage_panel(of_system: SystemReports, selection: Selection, *, is_first: bool) -> Panel:
    rows = of_system.reports
    ranks = list(range(1, len(rows) + 1))
    urls = [pairs_url(selection, text=row.text) for row in rows]
    shared = {"customdata": urls, "hovertemplate": "%{text}<extra></extra>", "showlegend": is_first}
    means = go.Bar(
        x=ranks,
        y=[row.mean for row in rows],
        text=[_mean_label(row) for row in rows],
        textposition="none",
        name="mean of the raters",
        legendgroup="mean",
        meta="--rule-control",
        marker={"opacity": 0.35},
        width=0.66,
        **shared,
    )
    spacing = min(0.16, 0.66 / len(selection.raters))
    points = [
        go.Scatter(
            x=[rank + (index - (len(selection.raters) - 1) / 2) * spacing for rank in ranks],
            y=[row.coverage[index].value for row in rows],
            text=[_label(row, rater, row.coverage[index]) for row in rows],
            mode="markers",
            name=escape(rater.title),
            legendgroup=rater.name,
            meta=f"--mark-{rater.mark}",
            marker={"size": 8, "symbol": SYMBOLS[rater.mark - 1], "line": {"width": 2}},
            **shared,
        )
        for index, rater in enumerate(selection.raters)
    ]
    judge = selection.judge
    lines = (
        [
            go.Scatter(
                x=ranks,
                y=[row.judge.value if row.judge else None for row in rows],
                text=[_label(row, judge, row.judge) if row.judge else "" for row in rows],
                mode="lines+markers",
                name=f"{escape(judge.title)}, η = {selection.eta}",
                legendgroup="judge",
                meta=INK,
                line={"width": 2},
                marker={"size": 5},
                **shared,
            )
        ]
        if judge
        else []
    )
    step = {"dtick": 1} if len(rows) <= 30 else {}
    return Panel(
        f"{escape(of_system.system)}, {n_of(of_system.n_reports, 'report')}",
        [means, *points, *lines],
        x={"title": {"text": "report (rank, from the highest)"}, "showgrid": False, **step},
        y={"title": {"text": COVERAGE_AXIS}, "range": [-0.04, 1.04], "dtick": 0.25},
        height=200,
    )


def _label(row: ReportRow, rater: Column, share: Estimate) -> str:
    not_rated = f", {share.missing} not rated" if share.missing else ""
    return (
        f"{_name(row)}<br>{escape(rater.title)}: {format_estimate(share)} sub-questions{not_rated}"
    )


def _mean_label(row: ReportRow) -> str:
    if row.mean is None:
        return ""
    return f"{_name(row)}<br>mean of the raters: {printed(row.mean, 4)}, n = {n_of(_n_raters(row), 'rater')}"


def _n_raters(row: ReportRow) -> int:
    return sum(share.value is not None for share in row.coverage)


def _name(row: ReportRow) -> str:
    return f"{escape(row.name)}<br>topic {escape(row.topic)}"


def _coverage_table(systems: Sequence[SystemReports], selection: Selection) -> FigureTable:
    judge = [selection.judge_apart.title] if selection.judge_apart else []
    titles = [*(rater.title for rater in selection.raters), "mean of the raters", *judge]
    return FigureTable(
        name="coverage",
        caption="Coverage of each report",
        note=(
            "The share of a topic’s sub-questions that the report answers. Sub-questions that a rater has not "
            "rated count as not answered."
        ),
        columns=("Report", "System", "Topic", *titles),
        rows=tuple(_coverage_cells(row, selection) for part in systems for row in part.reports),
        n_texts=3,
    )


def _coverage_cells(row: ReportRow, selection: Selection) -> tuple[Cell, ...]:
    def cell(share: Estimate) -> Cell:
        base_cell = estimate_cell(share)
        if share.value is None or not share.missing:
            return base_cell
        return replace(base_cell, note=f"{base_cell.note}, {share.missing} not rated")

    n = _n_raters(row)
    mean = (
        Cell("", reason="no rater has a value")
        if row.mean is None
        else Cell(printed(row.mean), row.mean, f"n = {n}")
    )
    return (
        Cell(row.name, url=pairs_url(selection, text=row.text)),
        Cell(row.system),
        Cell(row.topic),
        *(cell(share) for share in row.coverage),
        mean,
        *([cell(row.judge)] if row.judge and selection.judge_apart else []),
    )


def sweep_page(
    report: AgreementReport, judged: AgainstJudge | None, params: Mapping[str, str]
) -> ExplorePage:
    """Return the scores of the judge at each eta, in the three panels of the page."""
    selection, truth = report.selection, params.get("truth") or None
    has_figure = judged is not None and judged.n > 0 and bool(judged.sweep)
    title = selection.judge.title if selection.judge else "The judge"
    people = judged.title if judged and truth else "the raters"
    return ExplorePage(
        title=f"{title} at every threshold",
        file_name=f"{selection.dataset.slug}-sweep",
        back_url=f"{agreement_url(selection, truth=truth)}#judge",
        back_title="Agreement",
        summary=f"The grades of {people} count as correct. 95% intervals: jackknife over "
        f"{n_of(report.n_topics, 'topic')}."
        if has_figure
        else "",
        figure=sweep_figure(judged.sweep, selection, truth) if judged and has_figure else None,
        tables=(_sweep_table(judged.sweep, selection, truth),) if judged else (),
        point_target="the page Agreement with its η",
        empty=_no_sweep(selection, judged),
    )


def _no_sweep(selection: Selection, judged: AgainstJudge | None) -> str:
    if not selection.judges:
        return "The figure is empty: no judge has rated these texts yet."
    if judged is None:
        return "The figure is empty: no judge is chosen. Go back and choose one."
    if not judged.n:
        return "The figure is empty: the judge has rated none of the pairs that these raters rated."
    return "The figure is empty: the grades of raters and judge have only one threshold."


def sweep_figure(sweep: Sequence[AtEta], selection: Selection, truth: str | None) -> Json:
    """Return the lines of the sweep, with their intervals and n."""
    urls = [f"{agreement_url(selection, eta=scores.eta, truth=truth)}#judge" for scores in sweep]
    etas = [scores.eta or 0 for scores in sweep]
    panels = []
    for number, (title, names) in enumerate(CHARTS.items()):
        traces = []
        low, high = axis_of(*(getattr(scores, name) for scores in sweep for name in names))
        for kind, (name, label) in enumerate(names.items()):
            estimates: list[Estimate] = [getattr(scores, name) for scores in sweep]
            traces.append(
                go.Scatter(
                    # Beside each other, so that intervals do not hide each other.
                    x=[eta + (kind - 1) * 0.04 for eta in etas],
                    y=[estimate.value for estimate in estimates],
                    error_y=interval_bars(estimates) | {"thickness": 1, "width": 3},
                    text=[
                        f"η = {eta}<br>{label}: {format_estimate(estimate)}"
                        for eta, estimate in zip(etas, estimates, strict=True)
                    ],
                    customdata=urls,
                    mode="lines+markers",
                    name=label,
                    legendgroup=label,
                    # The first two panels have the same lines.
                    showlegend=number != 1,
                    meta=f"--mark-{_colour(number, kind)}",
                    line={"dash": DASHES[kind]},
                    marker={"size": 8, "symbol": SYMBOLS[_colour(number, kind) - 1]},
                    hovertemplate="%{text}<extra></extra>",
                )
            )
        panels.append(
            Panel(
                title,
                traces,
                x={"title": {"text": ETA_AXIS}, "dtick": 1, "showgrid": False},
                y={
                    "title": {"text": score_axis(title)},
                    "range": [low - 0.04, high + 0.04],
                    "dtick": (high - low) / 4,
                },
                height=220,
            )
        )
    return stacked_panels(panels)


def _colour(panel: int, kind: int) -> int:
    return 1 + kind + (3 if panel == 2 else 0)


def _sweep_table(sweep: Sequence[AtEta], selection: Selection, truth: str | None) -> FigureTable:
    def url(scores: AtEta) -> str:
        return f"{agreement_url(selection, eta=scores.eta, truth=truth)}#judge"

    columns = [
        f"{LABELS[name]}, {title.lower()}"
        if LABELS[name] in ("precision", "recall", "F1")
        else label
        for title, names in CHARTS.items()
        for name, label in names.items()
    ]
    return FigureTable(
        name="sweep",
        caption="Every threshold as a table",
        columns=("η", *columns),
        rows=tuple(
            (
                Cell(str(scores.eta), url=url(scores)),
                *(estimate_cell(getattr(scores, name)) for name in LABELS),
            )
            for scores in sweep
        ),
    )


FIGURES: Mapping[
    str, Callable[[AgreementReport, AgainstJudge | None, Mapping[str, str]], ExplorePage]
] = {"coverage": coverage_page, "sweep": sweep_page}
