"""Statistics from counts by topic are those of the same grades taken one by one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.stats import cohen, fleiss, pair_counts
from evaluation.stats.clusters import mean_of_items
from evaluation.stats.correlation import spearman
from evaluation.stats.intraclass import limits_of_agreement
from evaluation.stats.jackknife import jackknife
from evaluation.stats.majority import majority_positions, scott_pi
from evaluation.stats.pair_counts import LevelColumns, PairCounts

TOLERANCE = 1e-12


@st.composite
def graded(draw):
    """Return grades of three raters (items x raters), levels and topics."""
    levels = draw(st.sampled_from([(0, 1), (0, 1, 2, 3, 4, 5), (-1, 0, 4)]))
    n = draw(st.integers(0, 40))
    grade = st.sampled_from([*levels, np.nan])
    rows = draw(st.lists(st.tuples(grade, grade, grade), min_size=n, max_size=n))
    topics = draw(st.lists(st.sampled_from([3, 7, 8, 20]), min_size=n, max_size=n))
    return np.array(rows, dtype=float).reshape(n, 3), levels, np.array(topics, dtype=int)


def assert_same(estimate, expected):
    assert replace(estimate, value=None, reason="-", low=None, high=None) == replace(
        expected, value=None, reason="-", low=None, high=None
    )
    assert estimate.reason == expected.reason
    for field in ("value", "low", "high"):
        value, other_value = getattr(estimate, field), getattr(expected, field)
        assert (value is None) == (other_value is None), field
        if value is not None:
            assert value == pytest.approx(other_value, abs=TOLERANCE, rel=TOLERANCE), field


def over_topics(statistic, topics):
    """Return a statistic of items with its jackknife, every topic being left out in turn."""
    return jackknife(statistic, topics).within(-1, 1)


@given(graded())
def test_each_statistic(data):
    grades, levels, topics = data
    columns = LevelColumns(grades, levels, topics)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        x, y = grades[:, a], grades[:, b]
        (counts,) = columns.pairs(a, [b])
        assert counts.matrix.tolist() == PairCounts.of(x, y, levels, topics).matrix.tolist()
        both = ~(np.isnan(x) | np.isnan(y))
        assert columns.common_items()[a, b] == both.sum() == counts.n
        for weights in (None, "linear", "quadratic"):
            expected = over_topics(
                lambda items, x=x, y=y, weights=weights: cohen.cohen_kappa(
                    x[items], y[items], levels, weights
                ),
                topics,
            )
            assert_same(counts.kappa(weights), expected)
        expected = over_topics(lambda items, x=x, y=y: scott_pi(x[items], y[items], levels), topics)
        assert_same(counts.scott(), expected)
        equal = mean_of_items(x == y, both, topics, cohen.NO_PAIR).within(0, 1)
        assert_same(counts.percent(), equal)
        yes = [np.where(np.isnan(side), np.nan, side >= 1) for side in (x, y)]
        shares = mean_of_items(sum(yes) / 2, both, topics, cohen.NO_PAIR).within(0, 1)
        assert_same(counts.share_from(1), shares)
        assert_same(counts.binary(1).kappa(), PairCounts.of(*yes, (0, 1), topics).kappa())
        bias = mean_of_items(x - y, both, topics, cohen.NO_PAIR)
        reach = levels[-1] - levels[0]
        assert_same(counts.limits().bias, bias.within(-reach, reach))
        for end in ("low", "high"):
            assert_same(getattr(counts.limits(), end), getattr(limits_of_agreement(x, y), end))


@given(graded())
def test_counts_of_columns(data):
    grades, levels, topics = data
    columns = LevelColumns(grades, levels, topics)
    tallies = fleiss.counts(grades, levels)
    assert columns.tallies.tolist() == tallies.tolist()
    assert columns.terms.tolist() == fleiss.item_terms(tallies).tolist()
    for column, given_grades in enumerate(grades.T):
        assert columns.by_topic(column).tolist() == [
            [((given_grades == level) & (topics == topic)).sum() for level in levels]
            for topic in np.unique(topics)
        ]
    some_items = np.arange(0, len(grades), 2)
    other_items = np.arange(1, len(grades), 2)
    grades[other_items] = np.nan
    counts = columns.counts(some_items, *columns.positions[some_items, :2].T)
    expected = PairCounts.of(grades[:, 0], grades[:, 1], levels, topics)
    assert counts.by_topic.tolist() == expected.by_topic.tolist()
    assert counts.missing == expected.missing


@given(graded())
def test_spearman(data):
    grades, levels, topics = data
    x, y = grades[:, 0], grades[:, 1]
    estimate, expected = PairCounts.of(x, y, levels, topics).spearman(), spearman(x, y)
    assert (estimate.reason, estimate.p_reason, estimate.n, estimate.missing) == (
        *(expected.reason, expected.p_reason, expected.n, expected.missing),
    )
    if expected.value is not None:
        assert estimate.value == pytest.approx(expected.value, abs=TOLERANCE)
    if expected.p is not None:
        assert estimate.p == pytest.approx(expected.p, abs=1e-9)


def test_topic_without_a_common_item_is_left_out_too():
    # Topic 9 has no item with both grades, and is one of the clusters of the jackknife all the same.
    x, y = np.array([1.0, 0, 1, 1, 0]), np.array([1, 0, 0, 1, np.nan])
    topics = np.array([1, 1, 2, 3, 9])
    counts = PairCounts.of(x, y, (0, 1), topics)
    assert counts.by_topic.shape == (4, 2, 2)
    assert counts.by_topic[3].sum() == 0
    assert (counts.n, counts.missing) == (4, 1)


def test_reasons():
    none = PairCounts.of(np.array([1.0, np.nan]), np.array([np.nan, 1]), (0, 1), np.array([1, 2]))
    assert none.kappa().reason == none.percent().reason == cohen.NO_PAIR
    assert none.scott().reason == fleiss.NO_PAIR
    same = PairCounts.of(np.ones(3), np.ones(3), (0, 1), np.array([1, 2, 3]))
    assert same.kappa().reason == same.scott().reason == fleiss.ONE_CATEGORY
    assert same.percent().value == 1
    with pytest.raises(ValueError, match="outside the scale"):
        PairCounts.of(np.array([2.0]), np.array([0.0]), (0, 1), np.array([1]))


@pytest.mark.parametrize("n_raters", [64, 65, 126, 127, 300])
def test_any_number_of_raters_is_counted_right(n_raters, monkeypatch):
    monkeypatch.setattr(pair_counts, "_ITEMS_AT_ONCE", 7)
    rng, levels = np.random.default_rng(1), (0, 1, 2)
    grades = rng.choice([0.0, 1, 2, np.nan], (40, n_raters))
    grades[0] = 2  # all raters on one level
    columns = LevelColumns(grades, levels, np.arange(40) % 3)
    tallies = fleiss.counts(grades, levels)
    assert columns.tallies.tolist() == tallies.tolist()
    assert np.iinfo(columns.tallies.dtype).max > n_raters  # the judge can be counted too
    rated = (~np.isnan(grades)).astype(int)
    assert columns.common_items().tolist() == (rated.T @ rated).tolist()
    for rule in ("strict", "plurality"):
        positions = majority_positions(columns.tallies, rule)
        assert positions.tolist() == majority_positions(tallies, rule).tolist()
        assert positions[0] == 2
