"""The places of points, and figures for plotly.js.

The numbers are worked out from tests/toolbox/retrieval_study.py.
"""

import numpy as np
import pytest

from evaluation.plotly_file import FILE, FOLDER, URL, PlotlyFinder, style_ids
from evaluation.retrieval.charts import (
    MAX_POINTS,
    SCATTERED,
    scatter,
    shade,
    strip_ticks,
    strips,
    topic_strip,
    value_axis,
)
from evaluation.retrieval.compare import comparison
from evaluation.retrieval.figures import compare_figure, metrics_figure, topics_figure
from evaluation.retrieval.leaderboard import leaderboard
from evaluation.retrieval.query import RetrievalQuery
from evaluation.retrieval.rankings import taus
from evaluation.scoring.row_score import RUNS
from tests.toolbox.retrieval_study import make_retrieval_study


@pytest.fixture
def room(db):
    return make_retrieval_study()


def opened(dataset, **params):
    choice = RetrievalQuery.of_rated(dataset, params)
    return leaderboard(dataset, choice.options), choice


def test_strips_have_a_point_for_each_topic(room):
    room_board, _ = opened(room, source="judge")
    chart = strips(room_board, room_board.systems(RUNS), "coverage")
    assert [row.row.name for row in chart.rows] == ["good", "fair", "poor"]
    poor = chart.rows[2]
    assert sorted((point.topic, point.value) for _, point in poor.points) == [
        ("t0", 0),
        ("t1", 0.5),
        ("t2", 0.5),
        ("t3", 0),
    ]
    topic, values = chart.by_topic[0]
    assert topic == "t0"
    assert [point.value for _, point in values] == [1, 0.5, 0]


def test_many_topics_are_drawn_as_quantiles(db):
    dataset = make_retrieval_study(n_topics=MAX_POINTS + 4, people=False)
    room_board, _ = opened(dataset, source="judge")
    chart = strips(room_board, room_board.systems(RUNS), "coverage")
    assert not chart.is_drawn
    assert chart.topics == ()
    fair = next(row for row in chart.rows if row.row.name == "fair")
    assert fair.points == []
    assert fair.strip.quantiles.numbers == (0.5, 0.5, 0.5, 0.625, 1)


def test_axis_grows_by_quarters():
    assert value_axis(np.array([0.2, np.nan])) == (0, 1)
    assert value_axis(np.array([0.2]), np.array([1.01])) == (0, 1.25)
    assert value_axis(np.array([1.0 + 1e-12])) == (0, 1)
    assert value_axis(np.array([])) == (0, 1)
    assert [tick.label for tick in strip_ticks((0, 1))] == ["0", "0.25", "0.5", "0.75", "1"]
    assert [tick.label for tick in strip_ticks((0, 2))] == [
        "0",
        *["", "", ""],
        "1",
        *["", "", ""],
        "2",
    ]


def test_equal_points_do_not_overlap():
    strip = topic_strip(np.array([1.0] * 7 + [np.nan, 0.0]), (0, 1))
    positions = [(point.x, point.y) for point in strip.points]
    assert len(positions) == len(set(positions)) == 8
    assert {point.index for point in strip.points} == {0, 1, 2, 3, 4, 5, 6, 8}
    # Five above each other, the others beside them towards the middle.
    assert sorted({point.x for point in strip.points}) == ["1.5%", "97.7%", "98.5%"]
    empty = topic_strip(np.full(3, np.nan), (0, 1))
    assert (empty.points, empty.mean, empty.quantiles) == ((), None, None)
    assert topic_strip(np.full(MAX_POINTS + 1, np.nan), (0, 1)).quantiles is None


def test_scatter_has_the_first_across_and_the_second_up():
    chart = scatter(np.array([0.0, 1.0, np.nan]), np.array([1.0, 1.0, 0.5]), (0, 1))
    assert [(point.index, point.x, point.y) for point in chart.points] == [
        (0, "56", "8"),
        (1, "388", "8"),
    ]
    same = scatter(np.full(3, 0.5), np.full(3, 0.5), (0, 1))
    assert len({(point.x, point.y) for point in same.points}) == 3
    dense_chart = scatter(np.full(SCATTERED + 1, 1.0), np.zeros(SCATTERED + 1), (0, 1))
    assert dense_chart.points == ()
    assert [(square.n, square.shade) for square in dense_chart.squares] == [(SCATTERED + 1, 5)]


def test_shades():
    assert [shade(value) for value in (None, -0.5, 0.0, 0.09, 0.5, 1.0)] == [0, 0, 0, 0, 2, 5]


def test_figures_hold_the_same_numbers_and_nothing_that_is_forbidden(room):
    room_board, choice = opened(room, source="judge")
    systems = room_board.systems(RUNS)
    figure_5 = taus(systems)
    heat = metrics_figure(figure_5, choice)["data"][0]
    assert heat["z"] == [[tau.value for tau in row] for row in figure_5.rows]
    assert (heat["xgap"], heat["ygap"], heat["showscale"]) == (2, 2, False)
    assert heat["hovertemplate"].endswith(f"n = {len(systems)} systems<extra></extra>")
    chart = strips(room_board, systems, "coverage")
    topics = topics_figure(chart, choice)
    points = {trace["name"]: trace for trace in topics["data"] if "name" in trace}
    assert sorted(points["poor"]["x"]) == pytest.approx([0, 0, 0.5, 0.5], abs=0.001)
    assert f"/matrix/{room_board.keys[0]}/?source=judge&run=poor" in points["poor"]["customdata"][0]
    # Two topics of 0 and two of 0.5 have places of their own.
    assert len(set(zip(points["poor"]["x"], points["poor"]["y"], strict=True))) == 4
    assert "poor, n = 4" in [name["text"] for name in topics["layout"]["annotations"]]
    (mean,) = [trace for trace in topics["data"] if trace["text"][0].startswith("mean 0.2500")]
    poor = next(row.mean for row in chart.rows if row.row.name == "poor")
    assert mean["x"] == [0.25]
    assert mean["error_x"]["array"] == pytest.approx([poor.high - 0.25])
    assert mean["text"][0].endswith("n = 4")


def test_run_against_a_run_has_its_means_and_no_point_under_another(room):
    room_board, choice = opened(room, source="judge")
    pair = comparison(room_board, choice, {"a": "good", "b": "poor"})
    figure = compare_figure(pair, choice)
    points, means = figure["data"]
    # All four are 1 across; two are 0 and two 0.5 up: each pair stands round its place.
    assert len(set(zip(points["x"], points["y"], strict=True))) == 4
    assert points["x"] == pytest.approx([1] * 4, abs=0.02)
    assert sorted(points["y"]) == pytest.approx([0, 0, 0.5, 0.5], abs=0.02)
    assert points["text"][0].endswith("1.0000 (x), 0.0000 (y)")
    assert (means["x"], means["y"], means["meta"]) == ([1], [0.25], "--ink")
    # A t interval of 0, 0, 0.5, 0.5 with three degrees of freedom: 3.182 * sqrt(1/12) / 2.
    assert means["error_y"]["array"] == pytest.approx([0.4594], abs=0.0005)
    assert figure["layout"]["xaxis"]["title"]["text"].endswith("good, n = 4")


def test_plotly_comes_from_the_installed_package():
    finder = PlotlyFinder()
    assert finder.find(URL) == str(FOLDER / FILE)
    assert finder.find("plotly/widgetbundle.js") == []
    assert finder.find(URL, find_all=True) == [str(FOLDER / FILE)]
    [(path, storage)] = finder.list(None)
    assert storage.exists(path)
    # The page holds elements with these ids, so that plotly.js writes no style of its own; one
    # day a new version may write another, and then this fails before the browser complains.
    script = (FOLDER / FILE).read_text()
    assert len(style_ids()) == script.count('createElement("style")') - 1 == 1
    assert ".no-inline-styles" in script
