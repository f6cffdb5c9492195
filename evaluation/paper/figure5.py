"""Figure 5: how far the metrics put the systems in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from evaluation.csv_tables import estimate_cells, estimate_header
from evaluation.paper.drawing import COLUMN, INK, QUIET, RULE
from evaluation.paper.names import Metric
from evaluation.paper.sheet import Value, csv_text
from evaluation.scoring.ordering import order_agreement
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import FloatArray

GAP = 0.03  # between cells, as a share of their width


@dataclass(frozen=True)
class Heat:
    """Kendall's tau-b between every two metrics, over systems: `taus[i, j]` for i > j."""

    metrics: tuple[Metric, ...]
    taus: dict[tuple[int, int], Correlation]


def heat(values: Mapping[Metric, FloatArray]) -> Heat:
    """The correlations of metrics, each with its values: topics x systems, NaN = undefined.

    A metric without any value is left out. Which systems count, and the intervals, are as in
    `order_agreement`.
    """
    metrics = [metric for metric, scores in values.items() if not np.isnan(scores).all()]
    pairs = [(i, j) for i in range(len(metrics)) for j in range(i)]
    taus = {(i, j): order_agreement(values[metrics[i]], values[metrics[j]]) for i, j in pairs}
    return Heat(tuple(metrics), taus)


def heat_csv(correlations: Heat) -> str:
    """A row for every two metrics."""
    rows: list[list[Value]] = [
        [correlations.metrics[j].title, correlations.metrics[i].title, *estimate_cells(tau), tau.p]
        for (i, j), tau in correlations.taus.items()
    ]
    return csv_text(["a", "b", *estimate_header("tau"), "tau_p"], rows)


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
        number = f"{tau:z.2f}".replace("-", "−")
        colour = _readable_on(fill)
        axes.text(x + 0.5, y + 0.5, number, color=colour, ha="center", va="center")


def _readable_on(fill: Sequence[float]) -> str:
    """White or ink, whichever stands out more (WCAG 2.2, relative luminance)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in fill]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.209 else INK
