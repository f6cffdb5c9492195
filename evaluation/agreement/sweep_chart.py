"""Line charts of a judge's scores at each eta, drawn as SVG on the server."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.decimals import printed
from evaluation.agreement.threshold import AtEta
from evaluation.charts import axis_of
from evaluation.line_charts import LineChart, line_chart
from evaluation.stats.estimate import Estimate

SHARES = "κ and prevalence"
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
    SHARES: {
        "cohen_binary": "κ",
        "prevalence": "prevalence, raters",
        "judge_prevalence": "prevalence, judge",
    },
}


ACROSS = "η (lowest grade that is answerable)"


def sweep_charts(sweep: Sequence[AtEta]) -> list[LineChart]:
    """Return the three charts of a sweep, on one common axis; none without a sweep."""
    if not sweep:
        return []
    values = [
        getattr(scores, name) for names in CHARTS.values() for name in names for scores in sweep
    ]
    low, high = axis_of(*(Estimate(value.value, value.reason, value.n) for value in values))
    return [_chart(title, names, sweep, low, high) for title, names in CHARTS.items()]


def score_axis(title: str) -> str:
    """Return the title of the vertical axis of a chart, with its unit."""
    return "κ; share of ratings" if title == SHARES else "score (0 to 1)"


def _chart(
    title: str, names: dict[str, str], sweep: Sequence[AtEta], low: float, high: float
) -> LineChart:
    steps = [
        (
            scores.eta,
            f"η = {scores.eta}: "
            + ", ".join(
                f"{label} {_format_value(getattr(scores, name))}" for name, label in names.items()
            ),
        )
        for scores in sweep
    ]
    lines = {
        label: [getattr(scores, name).value for scores in sweep] for name, label in names.items()
    }
    return line_chart(title, steps, lines, (low, (low + high) / 2, high), ACROSS, score_axis(title))


def _format_value(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else printed(estimate.value)
