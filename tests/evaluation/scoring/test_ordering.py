"""Order of systems under two metrics, over the topics that they have."""

import numpy as np
import pytest

from evaluation.scoring.ordering import _tau_of_sums, comparable, means, order_agreement
from evaluation.stats.correlation import kendall_tau_b
from evaluation.stats.estimate import Estimate
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.pair_orders import Reversals

# Two topics (rows) and four systems: the means are 1, .75, .5, .25 and 1, .5, .75, .25.
Z = np.array([[1, 1, 0.5, 0], [1, 0.5, 0.5, 0.5]])
Y = np.array([[1, 0.5, 1, 0.5], [1, 0.5, 0.5, 0]])
NAN = np.nan


def many_topics(n_topics=20, noise=0.05, seed=0):
    """Return two metrics of six systems, topics x systems; the second swaps two neighbours."""
    generator = np.random.default_rng(seed)
    systems = np.array([[0.1, 0.3, 0.5, 0.7, 0.9, 1.1], [0.1, 0.3, 0.7, 0.5, 0.9, 1.1]])
    return systems[:, np.newaxis] + generator.normal(0, noise, (2, n_topics, 6))


def test_by_hand():
    # Of six pairs of systems one is swapped: (5 - 1) / 6.
    estimate = order_agreement(Z, Y)
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.n, estimate.missing, estimate.n_topics) == (4, 0, 2)


def test_interval_is_the_jackknife_over_topics():
    x, y = many_topics(16, noise=0.7, seed=1)
    estimate = order_agreement(x, y)
    deleted = [
        kendall_tau_b(*(np.delete(values, topic, axis=0).mean(axis=0) for values in (x, y))).value
        for topic in range(16)
    ]
    by_hand = jackknife_interval(Estimate(estimate.value, None, 6), deleted)
    assert len(set(deleted)) > 1
    assert (estimate.low, estimate.high) == pytest.approx((by_hand.low, min(by_hand.high, 1)))
    assert -1 <= estimate.low < estimate.value < estimate.high <= 1


def test_fewer_than_fifteen_topics_have_no_interval_and_say_of_which():
    x, y = many_topics(14)
    estimate = order_agreement(x, y)
    assert estimate.value == pytest.approx(13 / 15)
    assert (estimate.low, estimate.high) == (None, None)
    assert "of these 14 topics alone: with fewer than 15" in estimate.interval_reason
    assert order_agreement(*many_topics(15)).low is not None


def test_systems_that_topics_do_not_separate_have_no_interval():
    estimate = order_agreement(*many_topics(20, noise=4.0))
    pairs = estimate.reversals
    assert pairs.separated < pairs.pairs / 2
    assert estimate.low is None
    assert f"separate {pairs.separated} of 15 pairs of systems" in estimate.interval_reason


def test_reversed_pairs_are_counted():
    # All pairs are far apart by both metrics, and one of them is exchanged.
    assert order_agreement(*many_topics()).reversals == Reversals(1, 15, 15)
    assert order_agreement(*many_topics()).pair_counts == (1, 15, 15)


def test_topics_of_either_metric_are_deleted():
    # Of 20 topics the second metric has the first 15 alone.
    x, y = many_topics(20)
    y[15:] = NAN
    estimate = order_agreement(x, y)
    assert (estimate.n, estimate.n_topics) == (6, 20)
    assert estimate.low is not None


def test_system_that_lacks_a_topic_is_not_compared():
    z = np.column_stack([Z, [1.0, NAN]])
    estimate = order_agreement(z, np.column_stack([Y, [0.0, 0.0]]))
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.n, estimate.missing) == (4, 1)


def test_topic_without_any_value_is_nobodys_lack():
    none = np.full((1, 4), NAN)
    assert order_agreement(np.vstack([Z, none]), np.vstack([Y, none])).n == 4


def test_metrics_may_have_different_topics():
    # Reports were rated on the first topic alone: 4 2 4 2 against means 4 3 2 1 of both.
    y = np.vstack([Y[0], [NAN] * 4])
    assert order_agreement(Z, y).value == pytest.approx(kendall_tau_b([4, 3, 2, 1], Y[0]).value)


def test_undefined_says_why():
    estimate = order_agreement(Z[:, :2], Y[:, :2])
    assert (estimate.value, estimate.n) == (None, 2)
    assert estimate.reason == (
        "undefined, because 2 systems have both on all topics, and three are needed"
    )
    assert "all values of one list" in order_agreement(Z, np.ones((2, 4))).reason


def test_single_topic_has_no_interval():
    estimate = order_agreement(Z[:1], Y[:1])
    assert estimate.value is not None
    assert estimate.low is None
    assert "of this topic alone" in estimate.interval_reason
    assert estimate.reversals is None


def test_many_systems_have_no_interval():
    generator = np.random.default_rng(0)
    estimate = order_agreement(*generator.random((2, 3, 101)))
    assert (estimate.n, estimate.low) == (101, None)
    assert "over 100 systems" in estimate.interval_reason


def test_comparable_and_means():
    values = np.array([[1, NAN, 3], [2, 5, NAN], [NAN, NAN, NAN]])
    assert np.array_equal(
        comparable(values), [[1, NAN, NAN], [2, NAN, NAN], [NAN] * 3], equal_nan=True
    )
    assert np.array_equal(means(values), [1.5, 5, 3], equal_nan=True)
    assert np.isnan(means(np.full((2, 1), NAN))).all()


@pytest.mark.parametrize("seed", range(4))
def test_resamples_against_scipy(seed):
    generator = np.random.default_rng(seed)
    sums = generator.integers(0, 4, (30, 2, 6)) / 3 + 0.1
    expected = [kendall_tau_b(x, y).value for x, y in sums]
    assert np.allclose(_tau_of_sums(sums), np.array(expected, dtype=float), equal_nan=True)


def test_rounding_is_not_an_order():
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 to a computer: the first two systems are a tie.
    z = np.array([[0.1, 0.3, 0.9], [0.2, 0.2, 0.9], [0.3, 0.1, 0.9]])
    y = np.array([[1.0, 2.0, 3.0]] * 3)
    assert order_agreement(z, y).value == pytest.approx(2 / np.sqrt(2 * 3))
    sums = np.array([[[0.1 + 0.2, 0.3, 1], [1, 2, 3]]])
    assert _tau_of_sums(sums)[0] == pytest.approx(2 / np.sqrt(2 * 3))
