import dataclasses

import numpy as np
import pytest

from evaluation.stats.estimate import Estimate, complete_pairs, level_index


def test_value_or_a_reason_and_never_both():
    assert Estimate(0.5, None, n=3).missing == 0
    with pytest.raises(ValueError, match="either a value or a reason"):
        Estimate(None, None, n=3)
    with pytest.raises(ValueError, match="either a value or a reason"):
        Estimate(0.5, "undefined", n=3)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_value_is_finite(value):
    with pytest.raises(ValueError, match="undefined value is None"):
        Estimate(value, None, n=3)


def test_interval_has_two_ends():
    with pytest.raises(ValueError, match="two ends"):
        Estimate(0.5, None, n=3, low=0.1)


def test_estimate_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(0.5, None, n=3).value = 1.0


def test_complete_pairs_drops_a_pair_with_either_side_missing():
    a, b, missing = complete_pairs([1, None, 3, 4], [5, 6, None, 8])
    assert (a.tolist(), b.tolist(), missing) == ([1, 4], [5, 8], 2)


def test_complete_pairs_of_nothing():
    a, b, missing = complete_pairs([], [])
    assert (len(a), len(b), missing) == (0, 0, 0)


@pytest.mark.parametrize(("a", "b"), [([1], [1, 2]), ([[1]], [[1]]), ([np.inf], [1])])
def test_complete_pairs_refuses(a, b):
    with pytest.raises(ValueError):
        complete_pairs(a, b)


def test_level_index_keeps_the_shape_and_marks_missing():
    assert level_index([[0, 5], [None, 3]], [0, 3, 5]).tolist() == [[0, 2], [-1, 1]]


@pytest.mark.parametrize("levels", [[], [1], [1, 1], [[0, 1]]])
def test_level_index_refuses_a_scale(levels):
    with pytest.raises(ValueError, match="two or more different levels"):
        level_index([1], levels)


def test_level_index_names_ratings_outside_the_scale():
    with pytest.raises(ValueError, match=r"\[6\.0, 7\.0\]"):
        level_index([0, 7, 6, 7], [0, 1])


def test_interval_is_cut_off_where_the_statistic_ends():
    estimate = Estimate(0.9, None, 3, low=0.7, high=1.1)
    assert estimate.within(0, 1) == Estimate(0.9, None, 3, low=0.7, high=1.0)
    assert estimate.within(0, 2) == estimate
    none = Estimate(None, "undefined, because", 0)
    assert none.within(0, 1) == none
