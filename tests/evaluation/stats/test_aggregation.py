"""Tests of evaluation.stats.aggregation; crowd-kit cases are skipped without the extra."""

import numpy as np
import pytest

from evaluation.stats.aggregation import aggregate, nearest_level

NAN = np.nan
MODELS = ("dawid-skene", "mace")


@pytest.fixture
def crowd_kit():
    return pytest.importorskip(
        "crowdkit", reason="DAWID-SKENE AND MACE ARE NOT CHECKED: make env EXTRAS=aggregation"
    )


def crowd(seed=0, n=120):
    """Three raters who are right 19 times in 20, and two who guess; what is right is known."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 2, n)
    right = generator.random((n, 5)) < np.array([0.95, 0.95, 0.95, 0.5, 0.5])
    return truth, np.where(right, truth[:, None], 1 - truth[:, None]).astype(float)


def test_majority_is_strict():
    grades = aggregate([[1, 1, 0], [1, 0, NAN], [1, NAN, NAN], [NAN] * 3], (0, 1), "majority")
    assert grades[0] == 1
    assert np.isnan(grades[1:]).all()


def test_median_and_the_mean_go_to_the_nearest_level_half_up():
    # Medians: 1 of 0 1 5; between 1 and 2: 1.5, up; between 1 and 5: 3; one rating has none.
    ratings = [[0, 1, 5], [1, 2, NAN], [1, 5, NAN], [4, NAN, NAN]]
    grades = aggregate(ratings, range(6), "median")
    assert np.array_equal(grades, [1, 2, 3, NAN], equal_nan=True)
    # Means: (0.2 + 1.1 + 1.7) / 3 = 1; (2.4 + 2.6) / 2 = 2.5, up; 1/3 + 2/3 = 1, half 0.5, up.
    ratings = [[0.2, 1.1, 1.7], [2.4, NAN, 2.6], [1 / 3, 2 / 3, NAN], [4, NAN, NAN]]
    grades = aggregate(ratings, range(6), "mean-expected")
    assert np.array_equal(grades, [1, 3, 1, NAN], equal_nan=True)
    # Between the levels 0, 3 and 10: 1.5 is as near to 0 as to 3, 6.4 is nearer to 3.
    assert list(nearest_level([1.5, 6.4], (0, 3, 10))) == [3, 3]
    with pytest.raises(ValueError, match="lie between 0 and 5"):
        aggregate([[5.5, 1]], range(6), "mean-expected")


@pytest.mark.parametrize("method", MODELS)
def test_better_rater_weighs_more_and_a_seed_reproduces_the_result(crowd_kit, method):
    """In one, for MACE takes seconds each time."""
    truth, ratings = crowd()
    ratings[0, 1:] = NAN  # one rating
    ratings[1] = NAN
    grades = aggregate(ratings, (0, 1), method, seed=3)
    assert np.isnan(grades[:2]).all()
    assert not np.isnan(grades[2:]).any()
    by_majority = aggregate(ratings, (0, 1), "majority")
    right = (grades == truth)[2:].mean()
    assert right >= (by_majority == truth)[2:].mean()
    assert right > 0.97
    assert np.array_equal(grades, aggregate(ratings, (0, 1), method, seed=3), equal_nan=True)


@pytest.mark.parametrize("method", MODELS)
def test_ratings_that_are_all_alike_need_no_model(method):
    assert aggregate([[2, 2], [2, NAN]], (0, 1, 2), method)[0] == 2
    assert np.isnan(aggregate([[NAN, 1]], (0, 1), method)).all()


def test_wrong_input():
    with pytest.raises(
        ValueError, match="a method is one of majority, median, mean-expected, dawid"
    ):
        aggregate([[1, 1]], (0, 1), "mean")
    with pytest.raises(ValueError, match="outside the scale"):
        aggregate([[1, 7]], (0, 1), "majority")
