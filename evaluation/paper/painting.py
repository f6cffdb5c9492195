"""How Figures 4 and 5 are drawn: a panel of reports for each system, and a triangle of correlations."""

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
from evaluation.paper.drawing import COLUMN, INK, PAGE, QUIET, RULE, draw
from evaluation.paper.figure4 import ReportCoverage
from evaluation.paper.figure5 import Heat
from evaluation.paper.parts import Kind
from evaluation.scoring.report_coverage import Correlations, ReportRow
from evaluation.stats.estimate import Estimate, FloatArray

# Colours of Okabe and Ito, which colour-blind people tell apart, each with a shape of its own.
MARKS = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#cc79a7", "D"), ("#e69f00", "v"))
ANYBODY = ("#56788c", ".")  # where there are more people than marks
BAR = "#d9e0e4"
SIZE = 3.4  # of a mark, in points
THIN = 0.9
NAMED = 3  # as many pairs of people as the legend holds
GAP = 0.03  # between cells, as a share of their width


def drawn(data: ReportCoverage | Heat, kind: Kind) -> bytes:
    """Figure 4 or 5 as a file of this kind, by its data."""
    if isinstance(data, Heat):
        return draw(lambda figure: paint_heat(figure, data), kind)
    return draw(lambda figure: paint_coverage(figure, data), kind)


def paint_coverage(figure: Figure, coverage: ReportCoverage) -> None:
    """Bars are the mean of the people, marks the people, the line the judge.

    A report that a rater has not finished is a hollow mark and enters no mean.
    """
    legend = _legend(coverage)
    size, systems = len(coverage.topics), coverage.systems
    width = PAGE if coverage.is_wide else COLUMN
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
    return "undefined" if estimate.value is None else printed(estimate.value)


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


def paint_heat(figure: Figure, correlations: Heat) -> None:
    """The correlations as a triangle of cells, each with its number; an undefined one is hatched."""
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
    counted = sorted({tau.n for tau in correlations.taus.values() if tau.value is not None})
    if counted:
        over = str(counted[0]) if len(counted) == 1 else f"{counted[0]} to {counted[-1]}"
        words = f"Kendall τ\nover {over} systems"
        axes.text(size - 1, 1.15, words, ha="right", va="top", color=QUIET, linespacing=1.5)


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
    """White or ink, whichever stands out more (WCAG 2.2, relative luminance)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in fill]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.209 else INK
