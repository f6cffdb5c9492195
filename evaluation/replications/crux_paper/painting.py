"""Drawing of Figures 4 and 5: panels of reports by system, and a triangle of correlations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from annotation.decimals import printed
from evaluation.replications.crux_paper.drawing import COLUMN, INK, PAGE, QUIET, RULE, draw
from evaluation.replications.crux_paper.figure4 import ReportCoverage
from evaluation.replications.crux_paper.figure5 import Heat
from evaluation.replications.crux_paper.parts import Kind
from evaluation.scoring.report_coverage import Correlations, ReportRow
from evaluation.stats.estimate import Estimate, FloatArray

# Colour-blind safe colours of Okabe and Ito, each with a shape of its own.
MARKS = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#cc79a7", "D"), ("#e69f00", "v"))
ANYBODY = ("#56788c", ".")  # if there are more people than marks
BAR = "#d9e0e4"
SIZE = 3.4  # of a mark, in points
THIN = 0.9
MAX_LEGEND_PAIRS = 3  # pairs of people that fit in the legend
GAP = 0.03  # between cells, as a share of their width


def draw_figure(data: ReportCoverage | Heat, kind: Kind) -> bytes:
    """Draw Figure 4 or 5 from its data, as a file of this kind."""
    if isinstance(data, Heat):
        return draw(lambda figure: paint_heat(figure, data), kind)
    return draw(lambda figure: paint_coverage(figure, data), kind)


def paint_coverage(figure: Figure, coverage: ReportCoverage) -> None:
    """Paint bars for the mean of the people, marks for the people, a line for the judge.

    A report that a rater has not finished is a hollow mark and enters no mean.
    """
    legend = _legend(coverage)
    size, systems = len(coverage.topics), coverage.reports.by_system()
    width = PAGE if coverage.is_wide else COLUMN
    figure.set_size_inches(width, 0.5 + 0.9 * len(systems) + 0.14 * len(legend))
    panels = figure.subplots(len(systems), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, (system, indices) in zip(panels, systems.items(), strict=True):
        axes.set_title(system, loc="left", pad=3)
        axes.set_ylim(0, 1.04)
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_xlim(-0.6, size - 0.4)
        axes.tick_params(axis="x", length=0)
        _panel(axes, coverage, list(coverage.reports.take(indices)))
    prefix = _common_prefix(coverage.topics)
    step = -(-size // round(9 * width))  # number of names that fit
    ticks = range(0, size, step)
    panels[-1].set_xticks(ticks, [coverage.topics[tick].removeprefix(prefix) for tick in ticks])
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


def _panel(axes: Axes, coverage: ReportCoverage, reports: Sequence[ReportRow]) -> None:
    x_of_topic = {topic: index for index, topic in enumerate(coverage.topics)}
    x = np.array([x_of_topic[report.topic] for report in reports], dtype=np.float64)
    means = [_mean(report.coverage) for report in reports]
    axes.bar(x, means, width=0.72, color=BAR, zorder=1)
    n = len(coverage.people)
    for rater in range(n):
        shift = 0.4 * ((rater + 0.5) / n - 0.5)
        values = [report.coverage[rater] for report in reports]
        _marks(axes, x + shift, values, *_mark(rater, n))
    if coverage.judge:
        order = np.argsort(x)
        judged = [reports[x_of_topic].judge for x_of_topic in order]
        line = [
            np.nan if estimate is None or estimate.value is None else estimate.value
            for estimate in judged
        ]
        axes.plot(x[order], line, color=INK, linewidth=THIN, zorder=2)
        _marks(axes, x[order], [estimate for estimate in judged if estimate], INK, "x")


def _marks(axes: Axes, x: FloatArray, values: Sequence[Estimate], colour: str, shape: str) -> None:
    for position, estimate in zip(x.tolist(), values, strict=True):
        if estimate.value is None:
            continue
        axes.plot(
            position,
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
        label = f"{coverage.judge.title}, η = {coverage.eta}"
        entries.append(_entry(label, INK, "x", linestyle="solid"))
    if n > len(MARKS):
        return [*entries, _entry(f"{n} people", *ANYBODY)]
    for rater, person in enumerate(coverage.people):
        pair = coverage.with_judge(person)
        label = f"{person.title}: {_both(pair)}" if pair else person.title
        entries.append(_entry(label, *_mark(rater, n)))
    if not coverage.judge and len(coverage.correlations) <= MAX_LEGEND_PAIRS:
        pairs = ((f"{p.a.title}, {p.b.title}", _both(p)) for p in coverage.correlations)
        entries += [_entry(f"{names}: {both}", INK, "") for names, both in pairs]
    return entries


def _entry(
    label: str, colour: str, shape: str, linestyle: Literal["none", "solid"] = "none"
) -> Line2D:
    return Line2D(
        [],
        [],
        color=colour,
        marker=shape,
        markersize=SIZE,
        linestyle=linestyle,
        linewidth=THIN,
        label=label,
    )


def _both(pair: Correlations) -> str:
    """Return Pearson's r and Spearman's ρ: the paper names the one where it shows the other."""
    return f"r = {_number(pair.pearson)}, ρ = {_number(pair.spearman)}"


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else printed(estimate.value)


def _mark(rater: int, n: int) -> tuple[str, str]:
    return MARKS[rater] if n <= len(MARKS) else ANYBODY


def _mean(values: Sequence[Estimate]) -> float:
    finished = [
        estimate.value for estimate in values if estimate.value is not None and not estimate.missing
    ]
    return float(np.mean(finished)) if finished else float("nan")


def _common_prefix(names: Sequence[str]) -> str:
    """Return the common prefix of all names, up to a separator; empty for a single name."""
    if len(names) < 2:
        return ""
    common = takewhile(lambda characters: len(set(characters)) == 1, zip(*names, strict=False))
    shared = "".join(characters[0] for characters in common)
    while shared and shared[-1].isalnum():
        shared = shared[:-1]
    return shared


def paint_heat(figure: Figure, correlations: Heat) -> None:
    """Paint the correlations as a triangle of cells with numbers; undefined ones are hatched."""
    size = len(correlations.metrics)
    figure.set_size_inches(COLUMN, 0.2 + 0.42 * (size - 1))
    axes = figure.add_subplot()
    for (i, j), tau in correlations.taus.items():
        _cell(axes, j, i, tau.value)
    axes.set_xlim(0, size - 1)
    axes.set_ylim(size, 1)
    axes.set_xticks(
        [x + 0.5 for x in range(size - 1)], [m.title for m in correlations.metrics[:-1]]
    )
    axes.set_yticks([y + 0.5 for y in range(1, size)], [m.title for m in correlations.metrics[1:]])
    axes.tick_params(length=0, pad=2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    counts = sorted({tau.n for tau in correlations.taus.values() if tau.value is not None})
    if counts:
        n_systems = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        label = f"Kendall τ\nover {n_systems} systems"
        axes.text(size - 1, 1.15, label, ha="right", va="top", color=QUIET, linespacing=1.5)


def _cell(axes: Axes, x: int, y: int, tau: float | None) -> None:
    fill = (1.0, 1.0, 1.0) if tau is None else mpl.colormaps["RdBu"]((tau + 1) / 2)[:3]
    axes.add_patch(
        Rectangle(
            (x + GAP, y + GAP),
            1 - 2 * GAP,
            1 - 2 * GAP,
            facecolor=fill,
            edgecolor=RULE,
            hatch="/////" if tau is None else None,
            linewidth=0,
        )
    )
    if tau is not None:
        number = printed(tau)
        colour = _readable_on(fill)
        axes.text(x + 0.5, y + 0.5, number, color=colour, ha="center", va="center")


def _readable_on(fill: Sequence[float]) -> str:
    """Return white or ink, whichever has more contrast (WCAG 2.2, relative luminance)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in fill]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.209 else INK
