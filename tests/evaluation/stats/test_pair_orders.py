"""evaluation.stats.pair_orders"""

from itertools import combinations

import numpy as np
import pytest
import scipy

from evaluation.stats.pair_orders import Reversals, mean_order, reversals, separated

# Three topics (rows), three systems: the first two differ by 0.5 on every topic, the third by chance.
X = np.array([[0.9, 0.4, 0.1], [0.8, 0.3, 0.9], [0.7, 0.2, 0.3]])


def test_separated_is_a_paired_t_test_on_every_pair():
    generator = np.random.default_rng(3)
    values = (
        generator.normal(0, 1, (12, 7)) + np.linspace(0, 2, 7) + generator.normal(0, 3, (12, 1))
    )
    expected = []
    for a, b in combinations(range(7), 2):
        test = scipy.stats.ttest_rel(values[:, a], values[:, b])
        expected.append(np.sign(test.statistic) if test.pvalue < 0.05 else 0)
    assert separated(values).tolist() == expected
    assert 0 < np.count_nonzero(expected) < len(expected)


def test_difference_that_is_the_same_on_every_topic_is_found():
    assert separated(X).tolist() == [1, 0, 0]
    assert mean_order(X).tolist() == [1, 1, -1]


def test_ties_are_neither_separated_nor_reversed():
    ties = np.full((3, 3), 0.1) + np.array([[0.1], [0.2], [0.3]])
    assert separated(ties).tolist() == [0, 0, 0]
    assert reversals(X, ties) == Reversals(0, 1, 3)


def test_reversals_by_hand():
    # The opposite of X reverses all three pairs, of which the first alone is separated.
    assert reversals(X, -X) == Reversals(1, 1, 3)
    assert reversals(X, X) == Reversals(0, 1, 3)
    # What either metric separates counts: a second one that separates all, in another order.
    opposite = np.array([3.0, 2.0, 1.0]) + np.array([[0.0], [1.0], [2.0]])
    assert reversals(X, opposite) == Reversals(1, 3, 3)
    assert reversals(X, opposite).wording == "1 of 3"


def test_single_topic_separates_no_pair():
    assert reversals(X[:1], X) is None
    with pytest.raises(ValueError, match="two topics"):
        separated(X[:1])


def test_unlike_systems_are_refused():
    with pytest.raises(ValueError, match="the same systems"):
        reversals(X, X[:, :2])
