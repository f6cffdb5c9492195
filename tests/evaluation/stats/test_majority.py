import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from evaluation.stats.estimate import Estimate
from evaluation.stats.fleiss import fleiss_kappa
from evaluation.stats.majority import (
    majority_of,
    rater_against_majority,
    relative_drop,
    scott_pi,
)
from tests.evaluation.golden_cases import assert_close, assert_estimate, load, ratings

NAN = np.nan


@pytest.mark.parametrize("case", load("annotator_vs_majority"))
def test_golden(case):
    inputs, tolerance = case["input"], case["tolerance"]
    results = rater_against_majority(ratings(inputs["annotators"]).T, inputs["labels"])
    for result, expected in zip(results, case["expected"], strict=True):
        assert result.majority == pytest.approx(ratings(expected["majority"]), nan_ok=True)
        assert result.n_no_majority == expected["n_no_majority"]
        assert_estimate(result.kappa, expected["human_vs_majority"], tolerance, {})
        assert result.kappa.n == expected["human_vs_majority"]["n"]
        judge = scott_pi(inputs["llm"], result.majority, inputs["labels"])
        assert_estimate(judge, expected["llm_vs_majority"], tolerance, {})
        drop = relative_drop(result.kappa, judge)
        assert_close(drop.value, expected["relative_drop"], tolerance)


def test_by_hand():
    # Levels 0 and 1, three raters. Others of the first: 1 1, 0 0, 0 1 (no majority), 1 alone.
    items = [[1, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, NAN]]
    first, second, third = rater_against_majority(items, [0, 1])
    assert first.majority.tolist() == pytest.approx([1, 0, NAN, NAN], nan_ok=True)
    # The first agrees on one of two items. Of four grades three are 1: chance 9/16 + 1/16 = 5/8.
    # Pi = (1/2 - 5/8)/(1 - 5/8) = -1/3.
    assert first.kappa.value == pytest.approx(-1 / 3)
    assert (first.kappa.n, first.kappa.missing, first.n_no_majority) == (2, 2, 2)
    # Others of the second: 1 1, 1 0, 0 1, 1 alone. Of the third: 1 1, 1 0, 0 0, 1 1.
    assert second.majority.tolist() == pytest.approx([1, NAN, NAN, NAN], nan_ok=True)
    assert third.majority.tolist() == pytest.approx([1, NAN, 0, 1], nan_ok=True)
    # The third has no grade of the last item.
    assert (third.kappa.n, third.kappa.missing, third.n_no_majority) == (2, 2, 1)


def test_half_is_no_majority():
    items = [[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 2], [0, NAN, NAN, NAN], [NAN] * 4]
    assert majority_of(items, [0, 1, 2]).tolist() == pytest.approx(
        [NAN, 0, NAN, NAN, NAN], nan_ok=True
    )


def test_majority_is_a_level_and_not_its_place():
    assert majority_of([[5, 5, 3]], [3, 5]).tolist() == [5]


@pytest.mark.parametrize("seed", range(3))
def test_scott_pi_against_statsmodels(seed):
    generator = np.random.default_rng(seed)
    a = generator.integers(0, 3, 50).astype(float)
    b = np.where(generator.random(50) < 0.6, a, generator.integers(0, 3, 50))
    table, _ = aggregate_raters(np.column_stack([a, b])[4:].astype(int), n_cat=3)
    a[:2], b[2:4] = NAN, NAN
    result = scott_pi(a, b, [0, 1, 2])
    assert result.value == pytest.approx(statsmodels_fleiss(table))
    assert (result.n, result.missing) == (46, 4)


def test_majority_of_two_raters_is_undefined():
    for result in rater_against_majority([[0, 1], [1, 1]], [0, 1]):
        assert np.isnan(result.majority).all()
        assert result.kappa.reason == "undefined, because no item has two ratings"
        assert (result.n_no_majority, result.kappa.missing) == (2, 2)


def test_single_category_is_undefined():
    for result in rater_against_majority([[1, 1, 1], [1, 1, 1]], [0, 1]):
        assert result.kappa.reason == "undefined, because all ratings are in one category"


def test_relative_drop_by_hand():
    # From 0.8 to 0.6 is a quarter less; to 1.0 a quarter more.
    human = Estimate(0.8, None, 10, 2)
    drop = relative_drop(human, Estimate(0.6, None, 9))
    assert (drop.value, drop.n, drop.missing) == (pytest.approx(0.25), 10, 2)
    assert relative_drop(human, Estimate(1.0, None, 9)).value == pytest.approx(-0.25)


def test_relative_drop_undefined():
    defined, undefined = Estimate(0.5, None, 3), fleiss_kappa([[2, 0]])
    assert (
        relative_drop(undefined, defined).reason
        == "undefined, because the human's own kappa is undefined"
    )
    assert (
        relative_drop(defined, undefined).reason
        == "undefined, because the judge's own kappa is undefined"
    )
    for value in (0.0, -0.2):
        assert "not above 0" in relative_drop(Estimate(value, None, 3), defined).reason


def test_refuses():
    with pytest.raises(ValueError, match="items x raters"):
        rater_against_majority([0, 1], [0, 1])
    with pytest.raises(ValueError, match="outside the scale"):
        majority_of([[0, 2]], [0, 1])
    with pytest.raises(ValueError, match="equal length"):
        scott_pi([0, 1], [0], [0, 1])
    with pytest.raises(ValueError, match="outside the scale"):
        scott_pi([0, 2], [0, 1], [0, 1])


def test_plurality_is_more_than_any_other():
    items = [[1, 1, 2, 0], [1, 1, 2, 2], [2, NAN, NAN, NAN], [1, 1, 1, 0]]
    assert majority_of(items, [0, 1, 2]).tolist() == pytest.approx([NAN, NAN, NAN, 1], nan_ok=True)
    assert majority_of(items, [0, 1, 2], "plurality").tolist() == pytest.approx(
        [1, NAN, NAN, 1], nan_ok=True
    )
