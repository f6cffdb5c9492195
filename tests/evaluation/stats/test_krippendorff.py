import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.stats.krippendorff import alpha_from_coincidences, coincidences, krippendorff_alpha
from tests.evaluation.golden_cases import assert_close, assert_estimate, load, ratings

METRICS = ("nominal", "ordinal", "interval")
REASONS = {
    "single_category_used": "all ratings are in one category",
    "no_pairable_units": "no unit has two ratings",
}
NAN = np.nan
grades = arrays(
    np.float64,
    st.tuples(st.integers(2, 4), st.integers(1, 12)),
    elements=st.sampled_from([0, 1, 3, NAN]),
)


@pytest.mark.parametrize("case", load("krippendorff_alpha"))
@pytest.mark.parametrize("metric", METRICS)
def test_golden(case, metric):
    expected, tolerance = case["expected"][metric], case["tolerance"]
    result = krippendorff_alpha(ratings(case["input"]["ratings"]), metric)
    assert_estimate(result, expected, tolerance, REASONS)
    assert result.n == expected["n_pairable_units"]
    assert result.n_values == expected.get("n_pairable_values", 0)
    if result.value is not None:
        assert_close(result.observed, expected["observed_disagreement"], tolerance)
        assert_close(result.expected, expected["expected_disagreement"], tolerance)


def test_by_hand():
    # Two raters, units 1 1, 1 2, 2 2 and 3 with one rating: 6 pairable ratings, 3 of 1 and 3 of 2.
    # One unit of three disagrees: observed = 1/3. Expected: 2 x 3 x 3 of 6 x 5 ordered pairs = 3/5.
    # Alpha = 1 - (1/3)/(3/5) = 4/9, also for the others, as all disagreements are equally large:
    # interval 2 - 1 = 1; ordinal half of 3 and half of 3, 3 squared = 9 times as much of both.
    units = [[1, 1, 2, 3], [1, 2, 2, NAN]]
    for metric, size in (("nominal", 1), ("interval", 1), ("ordinal", 9)):
        result = krippendorff_alpha(units, metric)
        assert result.value == pytest.approx(4 / 9)
        assert result.observed == pytest.approx(size / 3)
        assert result.expected == pytest.approx(size * 3 / 5)
        assert (result.n, result.missing, result.n_values) == (3, 1, 6)


def test_unit_of_three_by_hand():
    # Ratings 0 0 1: each of 6 ordered pairs adds 1/2, so 00 twice = 1, 01 and 10 twice each = 1.
    assert coincidences([[0], [0], [1]], [0, 1], [7]).tolist() == [[[1, 1], [1, 0]]]


def test_ordinal_metric_depends_on_how_often_levels_are_used():
    # Levels 0 and 2 are as far apart by value in both; far more ratings lie between in the first.
    crowded = [[0, 1, 1, 1, 1, 2, 0], [0, 1, 1, 1, 1, 2, 2]]
    sparse = [[0, 0, 2, 2, 1, 2, 0], [0, 0, 2, 2, 1, 2, 2]]
    interval = [krippendorff_alpha(units, "interval") for units in (crowded, sparse)]
    ordinal = [krippendorff_alpha(units, "ordinal") for units in (crowded, sparse)]
    assert interval[0].observed == interval[1].observed
    assert ordinal[0].observed > ordinal[1].observed


@settings(deadline=None)
@given(grades, st.sampled_from(METRICS))
def test_against_the_krippendorff_package(values, metric):
    result = krippendorff_alpha(values, metric)
    pairable = values[:, (~np.isnan(values)).sum(axis=0) >= 2]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert result.value is None
    else:
        theirs = krippendorff.alpha(pairable, level_of_measurement=metric)
        assert result.value == pytest.approx(theirs)


@settings(deadline=None)
@given(grades)
def test_only_the_order_of_levels_matters_to_the_ordinal_metric(values):
    stretched = np.where(values == 3, 100, values)
    ours, theirs = krippendorff_alpha(values, "ordinal"), krippendorff_alpha(stretched, "ordinal")
    assert ours == theirs


@pytest.mark.parametrize("metric", METRICS)
def test_coincidences_add_up_to_the_alpha_of_any_resample(metric):
    generator = np.random.default_rng(1)
    topics = [generator.integers(0, 3, (3, 8)).astype(float) for _ in range(4)]
    topics[1][0, :5] = NAN
    sums = np.stack([coincidences(topic, [0, 1, 2], [0] * len(topic[0]))[0] for topic in topics])
    draws = np.array([[0, 1, 1, 3], [2, 2, 2, 2]])
    weights = np.stack([np.bincount(draw, minlength=4) for draw in draws])
    alphas = alpha_from_coincidences(np.tensordot(weights, sums, axes=1), [0, 1, 2], metric)
    for draw, alpha in zip(draws, alphas, strict=True):
        units = np.concatenate([topics[topic] for topic in draw], axis=1)
        assert alpha == pytest.approx(krippendorff_alpha(units, metric).value)


@pytest.mark.parametrize("metric", METRICS)
def test_sums_without_alpha_are_nan(metric):
    one_category = coincidences([[1, 1], [1, 1]], [0, 1], [0, 0])[0]
    stack = np.stack([one_category, np.zeros((2, 2))])
    assert np.isnan(alpha_from_coincidences(stack, [0, 1], metric)).all()


def test_lone_rating_of_another_category_does_not_define_alpha():
    result = krippendorff_alpha([[1, 1, 0], [1, 1, NAN]], "nominal")
    assert result.reason == "undefined, because all ratings are in one category"
    assert (result.n, result.missing, result.n_values) == (2, 1, 4)


def test_empty():
    result = krippendorff_alpha(np.empty((3, 0)), "ordinal")
    assert (result.value, result.n, result.missing) == (None, 0, 0)


def test_refuses():
    with pytest.raises(ValueError, match="raters x units"):
        krippendorff_alpha([0, 1], "nominal")
    with pytest.raises(ValueError, match="finite"):
        krippendorff_alpha([[0, np.inf], [0, 1]], "nominal")
    with pytest.raises(ValueError, match="a metric is"):
        krippendorff_alpha([[0, 1], [0, 1]], "ratio")
    with pytest.raises(ValueError, match="square"):
        alpha_from_coincidences(np.zeros((3, 3)), [0, 1], "nominal")
    with pytest.raises(ValueError, match="ascending"):
        alpha_from_coincidences(np.zeros((2, 2)), [1, 0], "ordinal")
