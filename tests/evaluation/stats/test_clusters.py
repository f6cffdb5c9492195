"""Sums per topic: what intervals over topics are made of."""

import numpy as np
import pytest

from evaluation.stats.clusters import (
    leave_one_out_sums,
    leave_one_topic_out_sums,
    level_sums,
    share,
    topic_sums,
)

TOPICS = np.array([7, 7, 3, 9])


def test_sums_stand_in_the_order_of_the_topics_numbers():
    terms = [[1, 10], [2, 20], [4, 40], [8, 80]]
    assert topic_sums(terms, TOPICS).tolist() == [[4, 40], [3, 30], [8, 80]]
    assert leave_one_topic_out_sums(terms, TOPICS).tolist() == [[11, 110], [12, 120], [7, 70]]


def test_leave_one_out_keeps_an_exact_zero():
    # 0.1 + 0.2 - 0.1 - 0.2 is not 0 in floating point.
    sums = [[0.1], [0.2], [0.0], [0.3]]
    assert leave_one_out_sums(sums)[:, 0].tolist() == pytest.approx([0.5, 0.4, 0.6, 0.3])
    assert leave_one_out_sums([[0.3], [0.0]])[0, 0] == 0
    assert leave_one_out_sums(np.zeros((0, 3))).shape == (0, 3)


def test_sums_may_be_matrices():
    sums = np.arange(12).reshape(3, 2, 2)
    assert leave_one_out_sums(sums)[1].tolist() == (sums[0] + sums[2]).tolist()


def test_levels_of_two_sides_may_differ():
    human, judge = np.array([1.0, 0, 1, np.nan]), np.array([3.0, 0, 5, 1])
    sums = level_sums(human, judge, ((0, 1), (0, 1, 2, 3, 4, 5)), TOPICS)
    assert sums.shape == (3, 2, 6)
    assert (sums[1, 1, 3], sums[1, 0, 0], sums[0, 1, 5]) == (1, 1, 1)
    # The item without a grade has a topic, and that is left out as any other.
    assert sums[2].sum() == 0


def test_share_without_anything_counted_says_why():
    estimate = share([1, 0], [0, 0], np.array([1, 2]), "nobody came")
    assert (estimate.value, estimate.reason) == (None, "undefined, because nobody came")
    assert (estimate.n, estimate.missing) == (0, 2)
