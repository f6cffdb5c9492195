"""Order of systems under two metrics, over the topics that they have."""

import numpy as np
import pytest

from evaluation.scoring.ordering import _tau_of_sums, comparable, means, order_agreement
from evaluation.stats.correlation import kendall_tau_b

# Two topics (rows) and four systems: the means are 1, .75, .5, .25 and 1, .5, .75, .25.
Z = np.array([[1, 1, 0.5, 0], [1, 0.5, 0.5, 0.5]])
Y = np.array([[1, 0.5, 1, 0.5], [1, 0.5, 0.5, 0]])
NAN = np.nan


def test_by_hand():
    # Of six pairs of systems one is swapped: (5 - 1) / 6. A resample draws topic 1 twice, topic 2
    # twice, or each once, about as often; so the interval goes from the one topic to the other.
    estimate = order_agreement(Z, Y)
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.n, estimate.missing) == (4, 0)
    alone = [kendall_tau_b(Z[topic], Y[topic]).value for topic in (0, 1)]
    assert (estimate.low, estimate.high) == pytest.approx((min(alone), max(alone)))


def test_a_system_that_lacks_a_topic_is_not_compared():
    z = np.column_stack([Z, [1.0, NAN]])
    estimate = order_agreement(z, np.column_stack([Y, [0.0, 0.0]]))
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.n, estimate.missing) == (4, 1)


def test_a_topic_without_any_value_is_nobodys_lack():
    none = np.full((1, 4), NAN)
    assert order_agreement(np.vstack([Z, none]), np.vstack([Y, none])).n == 4


def test_each_metric_has_topics_of_its_own():
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


def test_one_topic_has_no_interval():
    estimate = order_agreement(Z[:1], Y[:1])
    assert estimate.value is not None
    assert estimate.low is None
    assert "fewer than two" in estimate.interval_reason


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
