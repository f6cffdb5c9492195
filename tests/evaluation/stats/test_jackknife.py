import numpy as np
import pytest
from scipy import stats

from evaluation.stats.correlation import pearson
from evaluation.stats.estimate import Estimate
from evaluation.stats.fleiss import counts, fleiss_kappa, item_terms, kappa_from_sums
from evaluation.stats.jackknife import jackknife, jackknife_interval, jackknife_intervals
from tests.evaluation.golden_cases import assert_close, load


def mean(values):
    return Estimate(float(np.mean(values)), None, n=len(values))


STATISTICS = {
    "fleiss_kappa": lambda items: fleiss_kappa(counts(items, [0, 1])),
    "mean": mean,
    "pearson": lambda items: pearson(items[:, 0], items[:, 1]),
}
JACKKNIFE_CASES = [
    case for case in load("cluster_bootstrap") if "clusters" in case.values[0]["input"]
]


@pytest.mark.parametrize("case", JACKKNIFE_CASES)
def test_golden(case):
    inputs, expected, tolerance = case["input"], case["expected"], case["tolerance"]
    sizes = [len(cluster) for cluster in inputs["clusters"]]
    names = np.repeat(np.arange(len(sizes)), sizes)
    items = np.concatenate([np.array(cluster, dtype=float) for cluster in inputs["clusters"]])
    statistic = STATISTICS[inputs["statistic"]]
    result = jackknife(lambda indices: statistic(items[indices]), names)
    assert_close(result.value, expected["estimate"], tolerance)
    if expected["jackknife_se"] is None:
        assert (result.low, result.high) == (None, None)
        few = expected["n_clusters"] < 2
        reason = "fewer than two clusters" if few else "undefined without 1 of the 3 clusters"
        assert reason in result.interval_reason
    else:
        assert result.interval_reason is None
        low, high = expected["jackknife_t_95"]
        assert_close(result.low, low, tolerance)
        assert_close(result.high, high, tolerance)
        reach = stats.t.ppf(0.975, expected["n_clusters"] - 1) * expected["jackknife_se"]
        assert_close((result.high - result.low) / 2, reach, tolerance)


def test_by_hand():
    # Clusters {1}, {2}, {6}: mean 3; without each: 4, 3.5, 1.5, mean 3.
    # SE^2 = 2/3 (1 + 1/4 + 9/4) = 7/3; t(2) at 97.5% = 4.302653, so 3 -+ 4.302653 * 1.527525.
    values = np.array([1.0, 2.0, 6.0])
    result = jackknife(lambda indices: mean(values[indices]), ["a", "b", "c"])
    assert result.low == pytest.approx(3 - 6.572411, abs=1e-5)
    assert result.high == pytest.approx(3 + 6.572411, abs=1e-5)


def test_single_item_clusters_give_the_t_interval_of_a_mean():
    values = np.random.default_rng(1).normal(size=12)
    result = jackknife(lambda indices: mean(values[indices]), np.arange(12), level=0.9)
    low, high = stats.t.interval(0.9, 11, loc=values.mean(), scale=stats.sem(values))
    assert (result.low, result.high) == (pytest.approx(low), pytest.approx(high))


def test_sums_per_cluster_give_the_same_interval():
    generator = np.random.default_rng(5)
    names = np.repeat(np.arange(6), 10)
    matrix = counts(generator.integers(0, 2, size=(60, 3)), [0, 1])
    slow = jackknife(lambda indices: fleiss_kappa(matrix[indices]), names)
    sums = np.stack([item_terms(matrix[names == name]).sum(axis=0) for name in range(6)])
    fast = jackknife_interval(fleiss_kappa(matrix), kappa_from_sums((1 - np.eye(6)) @ sums))
    assert (fast.low, fast.high) == (pytest.approx(slow.low), pytest.approx(slow.high))


def test_fisher_scale_keeps_a_correlation_in_range():
    whole, deleted = Estimate(0.9, None, n=30), [0.95, 0.9, 0.8]
    assert jackknife_interval(whole, deleted).high > 1
    result = jackknife_interval(whole, deleted, fisher=True)
    assert -1 < result.low < 0.9 < result.high < 1
    plain = jackknife_interval(Estimate(float(np.arctanh(0.9)), None, n=30), np.arctanh(deleted))
    assert result.low == pytest.approx(np.tanh(plain.low))
    assert result.high == pytest.approx(np.tanh(plain.high))


def test_fisher_scale_ends_at_one():
    whole = Estimate(0.9, None, n=30)
    assert "no Fisher transform" in jackknife_interval(whole, [1, 0.8], fisher=True).interval_reason
    # 1 to rounding, on either side: its arctanh would be 18, and the limits whatever that makes them.
    for correlation in (1 - 2e-16, 1 + 2e-16, -1 - 2e-16):
        near = jackknife_interval(whole, [correlation, 0.8], fisher=True)
        assert near.low is None
        assert "no Fisher transform" in near.interval_reason
    with pytest.raises(ValueError, match="for correlations"):
        jackknife_interval(whole, [1.5, 0.8], fisher=True)


def test_estimate_keeps_its_n_and_missing():
    whole = Estimate(0.5, None, n=7, missing=2)
    result = jackknife_interval(whole, [0.4, 0.6])
    assert (result.value, result.n, result.missing) == (0.5, 7, 2)


def test_undefined_value_has_no_interval():
    result = jackknife(lambda indices: fleiss_kappa([[3, 0], [3, 0]]), ["a", "b"])
    assert result.value is None
    assert result.interval_reason == "no interval, because the value itself is undefined"


def test_empty_items_have_no_interval():
    result = jackknife(lambda indices: Estimate(None, "undefined, because empty", 0), [])
    assert (result.value, result.low) == (None, None)


@pytest.mark.parametrize("size", [0, 1, 2, 9])
def test_several_intervals_are_those_of_each_statistic(size):
    deleted = np.random.default_rng(size).random((size, 4))
    deleted[size // 2 :, 1] = np.nan
    wholes = [Estimate(0.25, None, 8), Estimate(0.5, None, 8), Estimate(None, "undefined", 0)]
    wholes.append(Estimate(0.75, None, 8, 3))
    for whole, column, interval in zip(
        wholes, deleted.T, jackknife_intervals(wholes, deleted), strict=True
    ):
        expected = jackknife_interval(whole, column)
        assert interval.interval_reason == expected.interval_reason
        assert (interval.value, interval.n) == (expected.value, expected.n)
        if expected.low is None:
            assert interval.low is None
        else:
            assert interval.low == pytest.approx(expected.low, abs=1e-12)
            assert interval.high == pytest.approx(expected.high, abs=1e-12)


def test_refuses():
    with pytest.raises(ValueError, match="between 0 and 1"):
        jackknife_interval(Estimate(0.5, None, n=2), [0.4, 0.6], level=95)
    for clusters in ([[1, 2]], [1.0, np.nan]):
        with pytest.raises(ValueError, match="one cluster for every item"):
            jackknife(lambda indices: mean(indices), clusters)
