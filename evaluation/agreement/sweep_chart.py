"""The scores of a judge at every eta, as three small line charts that the server prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluation.agreement.threshold import AtEta
from evaluation.charts import SHAPES, axis_of
from evaluation.stats.estimate import Estimate

# Of one chart, in units of its viewBox.
LEFT, RIGHT, TOP, BOTTOM = 34, 376, 30, 176
KEY, LETTER = 46, 6  # of the sign in a key with its gaps, and of a letter of its words
DASHES = ("", "7 4", "2 4")  # so that the shape of a line tells it from the others, not a hue alone

CHARTS: dict[str, dict[str, str]] = {
    "Answerable": {
        "precision_answerable": "precision",
        "recall_answerable": "recall",
        "f1_answerable": "F1",
    },
    "Unanswerable": {
        "precision_unanswerable": "precision",
        "recall_unanswerable": "recall",
        "f1_unanswerable": "F1",
    },
    "κ and prevalence": {
        "cohen_binary": "κ",
        "prevalence": "prevalence, raters",
        "judge_prevalence": "prevalence, judge",
    },
}


@dataclass(frozen=True)
class Line:
    """One statistic over eta. A gap where it is undefined parts it into several `runs` of points."""

    name: str
    key: str
    """Where its key begins, below the chart."""
    dash: str
    shape: str
    runs: tuple[str, ...]
    points: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Step:
    """The column of one eta. `says` tells its values in words."""

    eta: int | None
    x: str
    left: str
    width: str
    says: str


@dataclass(frozen=True)
class SweepChart:
    """Lines of related statistics on one axis."""

    title: str
    grid: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    lines: tuple[Line, ...]


def sweep_charts(sweep: Sequence[AtEta]) -> list[SweepChart]:
    """The three charts of a sweep; none without one. All have the axis that holds every value."""
    if not sweep:
        return []
    values = [
        getattr(scores, name) for names in CHARTS.values() for name in names for scores in sweep
    ]
    low, high = axis_of(*(Estimate(value.value, value.reason, value.n) for value in values))
    return [_chart(title, names, sweep, low, high) for title, names in CHARTS.items()]


def _chart(
    title: str, names: dict[str, str], sweep: Sequence[AtEta], low: float, high: float
) -> SweepChart:
    column = (RIGHT - LEFT) / len(sweep)

    def y(value: float) -> str:
        return _n(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))

    steps = tuple(
        Step(
            eta=scores.eta,
            x=_n(LEFT + column * (place + 0.5)),
            left=_n(LEFT + column * place),
            width=_n(column),
            says=f"η = {scores.eta}: "
            + ", ".join(
                f"{words} {_words(getattr(scores, name))}" for name, words in names.items()
            ),
        )
        for place, scores in enumerate(sweep)
    )
    widths = [KEY + LETTER * len(words) for words in names.values()]
    lines = tuple(
        _line(
            words,
            sum(widths[:kind]),
            kind,
            steps,
            [getattr(scores, name).value for scores in sweep],
            y,
        )
        for kind, (name, words) in enumerate(names.items())
    )
    ticks = (0.0, 0.5, 1.0) if low == 0 else (-1.0, 0.0, 1.0)
    return SweepChart(
        title, tuple((f"{tick:.1f}".replace("-", "−"), y(tick)) for tick in ticks), steps, lines
    )


def _line(
    name: str,
    key: float,
    kind: int,
    steps: Sequence[Step],
    values: list[float | None],
    y: Callable[[float], str],
) -> Line:
    placed = [
        None if value is None else (step.x, y(value))
        for step, value in zip(steps, values, strict=True)
    ]
    gaps = [-1, *(index for index, point in enumerate(placed) if point is None), len(placed)]
    runs = [placed[start + 1 : end] for start, end in pairwise(gaps)]
    return Line(
        name=name,
        key=_n(LEFT + key),
        dash=DASHES[kind],
        shape=SHAPES[kind],
        runs=tuple(
            " ".join(f"{x},{height}" for x, height in filter(None, run))
            for run in runs
            if len(run) > 1
        ),
        points=tuple(point for point in placed if point is not None),
    )


def _words(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{estimate.value:.2f}".replace("-", "−")


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
