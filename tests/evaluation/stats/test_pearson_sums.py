import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.stats.correlation import pearson
from evaluation.stats.correlation_intervals import pearson_from_sums, pearson_terms

NAN = np.nan


def test_by_hand():
    # x: 1 2 3 and y: 1 3 2 about their means: -1 0 1 and -1 1 0. r = 1/sqrt(2 x 2) = 1/2.
    terms = pearson_terms([1, 2, 3], [1, 3, 2])
    assert terms.tolist() == [[1, -1, -1, 1, 1, 1], [1, 0, 1, 0, 1, 0], [1, 1, 0, 1, 0, 0]]
    assert pearson_from_sums(terms.sum(axis=0)) == pytest.approx(1 / 2)


def test_incomplete_pair_adds_nothing():
    terms = pearson_terms([1, NAN, 2, 3, 7], [1, 5, 3, 2, NAN])
    assert terms[[1, 4]].tolist() == [[0] * 6] * 2
    assert pearson_from_sums(terms.sum(axis=0)) == pytest.approx(1 / 2)


@pytest.mark.parametrize("offset", [0, 1e6])
def test_sums_per_topic_give_the_r_of_any_resample(offset):
    generator = np.random.default_rng(2)
    x = generator.normal(size=40) + offset
    y = x + generator.normal(size=40)
    topics = np.repeat(np.arange(5), 8)
    terms = pearson_terms(x, y)
    sums = np.stack([terms[topics == topic].sum(axis=0) for topic in range(5)])
    draws = np.array([[0, 1, 1, 4, 4], [3, 3, 3, 3, 3], [0, 1, 2, 3, 4]])
    weights = np.stack([np.bincount(draw, minlength=5) for draw in draws])
    for draw, r in zip(draws, pearson_from_sums(weights @ sums), strict=True):
        indices = np.concatenate([np.flatnonzero(topics == topic) for topic in draw])
        assert r == pytest.approx(pearson(x[indices], y[indices]).value)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.integers(-5, 5)] * 2), min_size=3, max_size=20))
def test_undefined_where_pearson_is(pairs):
    x, y = np.array(pairs, dtype=float).T / 10
    whole = pearson(x, y)
    r = pearson_from_sums(pearson_terms(x, y).sum(axis=0))
    assert np.isnan(r) == (whole.value is None)
    if whole.value is not None:
        assert r == pytest.approx(whole.value, abs=1e-12)


def test_topic_drawn_again_and_again_may_be_constant():
    # In each of 50 topics x is constant, by another value. n times the sum of squares less the
    # square of the sum is then 0 but for rounding, on either side of it.
    generator = np.random.default_rng(1)
    x, y = np.repeat(generator.normal(size=50), 3), generator.normal(size=150)
    times = np.arange(1, 40)[:, np.newaxis, np.newaxis]
    for terms in (pearson_terms(x, y), pearson_terms(y, x)):
        topics = terms.reshape(50, 3, 6).sum(axis=1)
        assert np.isnan(pearson_from_sums(times * topics)).all()


def test_fewer_than_three_pairs_have_no_r():
    terms = pearson_terms([1, 2, 3], [1, 3, 2])
    assert np.isnan(pearson_from_sums(np.stack([terms[:2].sum(axis=0), 0 * terms[0]]))).all()


def test_empty_lists_are_undefined():
    assert pearson_terms([], []).shape == (0, 6)
    assert pearson_terms([NAN], [1]).tolist() == [[0] * 6]


def test_refuses():
    with pytest.raises(ValueError, match="equal length"):
        pearson_terms([1, 2], [1])
    with pytest.raises(ValueError, match="finite"):
        pearson_terms([1, np.inf], [1, 2])
