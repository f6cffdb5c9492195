"""Comparisons of each two systems, each two metrics, and each two sources of grades.

The numbers are worked out from tests/toolbox/retrieval_study.py.
"""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from annotation.models import Rating
from evaluation.data.selection import SelectionError
from evaluation.retrieval.differences import mean_difference, pair_tests, sampled
from evaluation.retrieval.leaderboard import leaderboard
from evaluation.retrieval.query import RetrievalQuery
from evaluation.retrieval.rankings import FIGURE_5, compare_sources, compared_sources, taus
from evaluation.scoring.row_score import METRICS, RUNS
from tests.toolbox.retrieval_study import make_retrieval_study


@pytest.fixture
def room(db):
    return make_retrieval_study()


def opened(dataset, **params):
    choice = RetrievalQuery.of_rated(dataset, params)
    return leaderboard(dataset, choice.options), choice


def test_tests_of_all_pairs_of_systems(room):
    room_board, _ = opened(room, source="judge")
    tests = pair_tests(room_board.systems(RUNS), "coverage")
    # good - poor: 1, .5, .5, 1: two of 16 flips are as far off. The others: .5 .5 0 .5 and
    # .5 0 .5 .5, two of 8. Holm: 3 x 0.125, then 2 x 0.25, and no less for the last.
    assert [(test.first, test.second) for test in tests] == [
        ("good", "poor"),
        ("fair", "poor"),
        ("good", "fair"),
    ]
    assert [test.difference.value for test in tests] == [0.75, 0.375, 0.375]
    assert [test.flip.p for test in tests] == [0.125, 0.25, 0.25]
    assert [test.p_holm for test in tests] == [0.375, 0.5, 0.5]
    assert [(test.n_above, test.n_below) for test in tests] == [(4, 0), (3, 0), (3, 0)]
    assert all(test.flip.exact and test.flip.n == 4 for test in tests)
    # sd of 1, .5, .5, 1 is 0.288675; t(3) = 3.18245; 3.18245 x 0.288675 / 2 = 0.459347.
    assert tests[0].difference.low == pytest.approx(0.75 - 0.459347, abs=1e-6)
    assert tests[0].difference.high == 1  # and not 1.21: no two coverages are further apart
    assert sampled(test.flip for test in tests) == ""


def test_systems_without_a_common_topic(room):
    room_board, _ = opened(room, source="judge")
    good, fair, _ = sorted(room_board.systems(RUNS), key=lambda row: row.name != "good")
    first, second = np.full(4, np.nan), np.full(4, np.nan)
    first[0], second[1] = 1.0, 0.5
    rows = [
        replace(row, values=np.tile(values, (len(METRICS), 1)))
        for row, values in ((good, first), (fair, second))
    ]
    (test,) = pair_tests(rows, "coverage")
    assert test.difference.value is None
    assert test.flip.p is None
    assert test.p_holm is None
    assert pair_tests(rows[:1], "coverage") == ()


def test_single_common_topic_has_no_interval():
    estimate = mean_difference(np.array([0.25, np.nan]))
    assert (estimate.value, estimate.low, estimate.n, estimate.missing) == (0.25, None, 1, 1)
    assert "fewer than two" in estimate.interval_reason


def test_metrics_order_the_systems(room):
    room_board, _ = opened(room, source="judge", cutoff="size")
    figure = taus(room_board.systems(RUNS))
    assert figure.metrics == FIGURE_5
    assert figure.n_systems == 3
    # By coverage good, fair, poor. alpha-nDCG at the length of a run is 1 for good and for fair,
    # which ranks one passage where that is the ideal: 2 / sqrt(3 x 2).
    assert figure.rows[0][1].value == pytest.approx(2 / sqrt(6))
    assert (figure.rows[0][0].value, figure.rows[0][0].n) == (pytest.approx(1), 3)
    two = taus(room_board.systems(RUNS)[:2])
    assert two.rows[0][1].value is None
    assert two.rows[0][1].reason == (
        "undefined, because 2 systems have both on all topics, and three are needed"
    )


def test_order_under_another_judge(room):
    choice = RetrievalQuery.of_rated(room, {"source": "judge", "with": "judge,other"})
    comparison = compare_sources(choice)
    (orders,) = comparison.orders
    # By the judge 1, .625, .25; by the other 0, 0, .5: good and fair tie, both are swapped with
    # poor. tau-b = -2 / sqrt(3 x 2).
    assert orders.tau.value == pytest.approx(-2 / sqrt(6))
    assert [(swap.first, swap.second) for swap in orders.swapped] == [
        ("good", "poor"),
        ("fair", "poor"),
    ]
    assert orders.swapped[0].ours == (1, 0.25)
    assert orders.swapped[0].theirs == (0, 0.5)
    assert orders.n_pairs == 3
    assert not orders.unlike
    # fair good poor against good fair poor, ties by name: depth 1 has nothing in common under p,
    # and the lists agree wholly from depth 3 on; the value is checked by its own tests.
    assert 0 < orders.overlap.value < 1


def test_judges_swapped_within_topics(room):
    choice = RetrievalQuery.of_rated(room, {"source": "judge", "with": "judge,other"})
    (pair,) = compare_sources(choice).pairs
    coverage = pair.metrics[0]
    # Means of good, fair and poor on the four topics: 1/2, 2/3, 5/6, 1/2 and 1/3, 0, 0, 1/3.
    assert coverage.mean_a == pytest.approx(0.625)
    assert coverage.mean_b == pytest.approx(1 / 6)
    assert coverage.difference.value == pytest.approx(0.625 - 1 / 6)
    assert coverage.flip.p == 2 / 16
    # On the passages that people rated, the judge says what they say and the other always no.
    kappas = pair.kappas
    assert (kappas.kappa_a, kappas.kappa_b, kappas.p) == (1, 0, 2 / 16)
    assert (kappas.n, kappas.missing, kappas.n_topics) == (8, 0, 4)


def test_judges_without_people(db):
    dataset = make_retrieval_study(people=False)
    comparison = compare_sources(RetrievalQuery.of_rated(dataset, {"source": "judge"}))
    assert comparison.people is None
    assert comparison.pairs[0].kappas is None


def test_cell_that_a_judge_left_open_is_counted(room):
    Rating.objects.filter(rater__name="other", text__name="t0:0#0").delete()
    choice = RetrievalQuery.of_rated(room, {"source": "judge", "with": "judge,other"})
    kappas = compare_sources(choice).pairs[0].kappas
    assert (kappas.n, kappas.missing) == (7, 1)


def test_sources_side_by_side(room):
    def names(**params):
        return [source.name for source in compared_sources(RetrievalQuery.of_rated(room, params))]

    assert names(source="judge") == ["judge", "other", "majority"]
    assert names(source="ann") == ["judge", "other", "ann", "majority"]
    assert names(**{"with": "ann,other"}) == ["other", "ann"]
    with pytest.raises(SelectionError, match="“eve”"):
        names(**{"with": "ann,eve"})
