import warnings

import numpy as np
import pytest
from scipy import stats

from evaluation.stats.correlation import kendall_tau_b, pearson, spearman
from tests.evaluation.golden_cases import assert_close, assert_estimate, load, ratings

STATISTICS = {"pearson": pearson, "spearman": spearman, "kendall_b": kendall_tau_b}
REASONS = {
    "zero_variance": "all values of one list are the same",
    "n_lt_3": "fewer than three",
}


@pytest.mark.parametrize("case", load("correlation"))
@pytest.mark.parametrize("name", STATISTICS)
def test_golden(case, name):
    expected, tolerance = case["expected"][name], case["tolerance"]
    result = STATISTICS[name](ratings(case["input"]["x"]), ratings(case["input"]["y"]))
    assert_estimate(result, expected, tolerance, REASONS)
    assert (result.n, result.missing) == (expected["n"], expected["dropped"])
    if expected.get("p") is None:
        assert result.p is None
        assert (result.p_reason is None) == (expected.get("p_reason") is None)
    else:
        assert result.p_reason is None
        assert_close(result.p, expected["p"], tolerance)
        # The rule allows 1e-8 absolutely, which a p of 1e-9 would meet with any digits.
        assert result.p == pytest.approx(expected["p"], rel=1e-6, abs=0)
    if "p_method" in expected:
        assert result.p_method == expected["p_method"]


def test_by_hand():
    # x: 1 2 3, y: 1 3 2. Deviations -1 0 1 and -1 1 0: r = 1/sqrt(2 * 2) = 1/2; the values are
    # their own ranks, so rho = 1/2. Pairs: (1,2) and (1,3) concordant, (2,3) not: tau = 1/3.
    x, y = [1, 2, 3], [1, 3, 2]
    assert pearson(x, y).value == pytest.approx(1 / 2)
    assert spearman(x, y).value == pytest.approx(1 / 2)
    assert kendall_tau_b(x, y).value == pytest.approx(1 / 3)


def test_p_of_pearson_by_hand():
    # r = 1/2, n = 3: t = r sqrt(1)/sqrt(1 - r^2) = 1/sqrt(3), which is a Cauchy with 1 degree of
    # freedom: p = 2 (1/2 - arctan(1/sqrt(3))/pi) = 1 - 2 (1/6) = 2/3.
    assert pearson([1, 2, 3], [1, 3, 2]).p == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(5))
def test_against_scipy_with_missing_values(seed):
    generator = np.random.default_rng(seed)
    x = np.round(generator.normal(size=40), 1)
    y = np.round(x + generator.normal(size=40), 1)
    x[:3], y[2:5] = np.nan, np.nan
    for statistic, scipy_function in (
        (pearson, stats.pearsonr),
        (spearman, stats.spearmanr),
        (kendall_tau_b, stats.kendalltau),
    ):
        ours, theirs = statistic(x, y), scipy_function(x[5:], y[5:])
        assert (ours.n, ours.missing) == (35, 5)
        assert ours.value == pytest.approx(theirs.statistic)
        assert ours.p == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("statistic", [pearson, spearman])
@pytest.mark.parametrize("sign", [1, -1])
def test_perfect_correlation_has_no_p(statistic, sign):
    x = np.array([0.1, 0.2, 0.3, 0.7])
    result = statistic(x, sign * (3 * x + 0.1))
    assert result.value == pytest.approx(sign)
    assert result.p is None
    assert result.p_reason == "undefined, because the correlation is exactly 1 or -1"


@pytest.mark.parametrize("statistic", STATISTICS.values())
def test_values_that_differ_by_rounding_alone_are_constant(statistic):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = statistic([0.3, 0.1 + 0.2, 0.3], [1, 2, 3])
    assert result.value is None
    assert "the same" in result.reason


@pytest.mark.parametrize("statistic", STATISTICS.values())
def test_empty_and_all_missing(statistic):
    assert statistic([], []).reason == "undefined, because 0 complete pairs are fewer than three"
    result = statistic([np.nan] * 4, [1, 2, 3, 4])
    assert (result.value, result.p, result.n, result.missing) == (None, None, 0, 4)


@pytest.mark.parametrize("statistic", STATISTICS.values())
def test_refuses(statistic):
    with pytest.raises(ValueError, match="equal length"):
        statistic([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="finite"):
        statistic([1, 2, np.inf], [1, 2, 3])
