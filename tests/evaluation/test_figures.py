"""Interactive figures: panels with axes of their own, intervals, and tables of values."""

import plotly.graph_objects as go
import pytest

from evaluation.figures import (
    PANEL_GAP,
    Cell,
    Panel,
    estimate_cell,
    format_estimate,
    interval_bars,
    stacked_panels,
)
from evaluation.stats.estimate import Estimate

WITH_INTERVAL = Estimate(0.5, None, 4, low=0.25, high=0.875)
WITHOUT_INTERVAL = Estimate(0.25, None, 3)
UNDEFINED = Estimate(None, "undefined, because nothing is rated", 0)


def panel(title: str) -> Panel:
    line = {"type": "line", "x0": 0, "y0": 0, "x1": 1, "y1": 1}
    trace = go.Scatter(x=[1], y=[2])
    return Panel(title, [trace], {"title": {"text": "x"}}, {}, height=200, shapes=[line])


def test_panels_have_axes_of_their_own_below_each_other():
    figure = stacked_panels([panel("first"), panel("second")])
    assert [(trace["xaxis"], trace["yaxis"]) for trace in figure["data"]] == [
        ("x", "y"),
        ("x2", "y2"),
    ]
    layout, total = figure["layout"], 400 + PANEL_GAP
    assert layout["yaxis"]["domain"] == pytest.approx([1 - 200 / total, 1])
    assert layout["yaxis2"]["domain"] == pytest.approx([0, 200 / total])
    assert layout["height"] > total
    assert layout["xaxis2"]["title"]["text"] == "x"
    assert [title["text"] for title in layout["annotations"]] == ["first", "second"]
    assert [shape["yref"] for shape in layout["shapes"]] == ["y", "y2"]


def test_interval_bars_reach_from_the_value_to_both_ends():
    bars = interval_bars([WITH_INTERVAL, WITHOUT_INTERVAL])
    assert (bars["array"], bars["arrayminus"]) == ([0.375, 0], [0.25, 0])
    assert interval_bars([WITHOUT_INTERVAL, UNDEFINED]) == {"visible": False}


def test_label_and_cell_have_interval_n_and_reason():
    assert format_estimate(WITH_INTERVAL) == "0.5000, 95% interval 0.2500 to 0.8750, n = 4"
    assert format_estimate(UNDEFINED) == "undefined, because nothing is rated"
    assert estimate_cell(WITH_INTERVAL) == Cell("0.50", 0.5, "[0.25, 0.88], n = 4")
    assert estimate_cell(WITHOUT_INTERVAL, 3, with_n=False) == Cell("0.250", 0.25)
    assert estimate_cell(UNDEFINED) == Cell("", reason="undefined, because nothing is rated")
