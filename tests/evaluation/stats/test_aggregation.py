"""evaluation.stats.aggregation; what needs crowd-kit is skipped, and says so, where the extra is not there."""

import numpy as np
import pytest

from evaluation.stats.aggregation import aggregate

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


def test_the_majority_is_strict():
    found = aggregate([[1, 1, 0], [1, 0, NAN], [1, NAN, NAN], [NAN] * 3], (0, 1), "majority")
    assert found[0] == 1
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("method", MODELS)
def test_who_is_right_more_often_weighs_more(crowd_kit, method):
    truth, ratings = crowd()
    found = aggregate(ratings, (0, 1), method)
    by_majority = aggregate(ratings, (0, 1), "majority")
    assert (found == truth).mean() >= (by_majority == truth).mean()
    assert (found == truth).mean() > 0.97


@pytest.mark.parametrize("method", MODELS)
def test_missing_stays_missing_and_a_seed_gives_the_same(crowd_kit, method):
    _, ratings = crowd(n=40)
    ratings[0, 1:] = NAN  # one rating
    ratings[1] = NAN
    found = aggregate(ratings, (0, 1), method, seed=3)
    assert np.isnan(found[:2]).all()
    assert not np.isnan(found[2:]).any()
    assert np.array_equal(found, aggregate(ratings, (0, 1), method, seed=3), equal_nan=True)


@pytest.mark.parametrize("method", MODELS)
def test_ratings_that_are_all_alike_need_no_model(method):
    assert aggregate([[2, 2], [2, NAN]], (0, 1, 2), method)[0] == 2
    assert np.isnan(aggregate([[NAN, 1]], (0, 1), method)).all()


def test_wrong_input():
    with pytest.raises(ValueError, match="a method is one of majority, dawid-skene, mace"):
        aggregate([[1, 1]], (0, 1), "mean")
    with pytest.raises(ValueError, match="outside the scale"):
        aggregate([[1, 7]], (0, 1), "majority")
