import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.stats.prediction_powered import ppi_mean
from tests.evaluation.golden_cases import assert_close, load

NAN = np.nan
shares = st.lists(st.floats(0, 1), min_size=4, max_size=4)


@pytest.mark.parametrize("case", load("ppi_mean"))
def test_golden(case):
    inputs, expected, tolerance = case["input"], case["expected"], case["tolerance"]
    sides = inputs["human"], inputs["llm_on_human"], inputs["llm_unlabelled"]
    result = ppi_mean(*sides, lam=inputs["lam"])
    normal = ppi_mean(*sides, lam=inputs["lam"], reference="normal")
    assert_close(result.lam, expected["lam"], tolerance)
    assert_close(result.value, expected["estimate"], tolerance)
    assert_close(result.se, expected["se_ddof1"], tolerance)
    assert_close(normal.se, expected["se_ddof0"], tolerance)
    for estimate, interval in ((result, "ci95_t_recommended"), (normal, "ci95_z_ppi_py")):
        assert_close(estimate.low, expected[interval][0], tolerance)
        assert_close(estimate.high, expected[interval][1], tolerance)
    assert (result.n, result.n_judge_only) == (len(sides[0]), len(sides[2]))


def test_by_hand():
    # People say 1 and 3 where the judge says 0 and 2; elsewhere it says 2 and 4.
    # With lam 1 the mean is 2 - (1 - 3) = 4. People less judge is 1 in both: no variance; the
    # judge's 2 and 4 have variance 2, so SE^2 = 0/2 + 2/2 = 1. t(1) at 97.5% is 12.7062.
    result = ppi_mean([1, 3], [0, 2], [2, 4], lam=1)
    assert (result.value, result.se) == (4, 1)
    assert (result.low, result.high) == (pytest.approx(4 - 12.7062), pytest.approx(4 + 12.7062))


def test_tuning_by_hand():
    # cov(Y, F) over n: deviations -1 1 and -1 1, so 1. F and U together are 0 2 2 4: mean 2,
    # squares 4 + 0 + 0 + 4 over 3. lam = 1/((1 + 2/2) 8/3) = 3/16.
    assert ppi_mean([1, 3], [0, 2], [2, 4]).lam == pytest.approx(3 / 16)


def test_tuning_ends_at_zero_and_one():
    # A judge that goes the other way gets no weight; one whose scores move less, not more than 1.
    assert ppi_mean([1, 3], [2, 0], [2, 4]).lam == 0
    assert ppi_mean([0, 30], [0, 2], [1, 1, 1, 1]).lam == 1


def test_constant_judge_has_no_weight():
    result = ppi_mean([0.2, 0.4, 0.9], [0.3, 0.1 + 0.2, 0.3], [0.3, 0.3])
    assert (result.lam, result.value) == (0, 0.5)


@settings(deadline=None)
@given(shares, shares, shares)
def test_without_weight_it_is_the_t_interval_of_people(human, judge, judge_only):
    result = ppi_mean(human, judge, judge_only, lam=0)
    assert result.value == pytest.approx(np.mean(human))
    if np.ptp(human) > 1e-6:
        low, high = stats.t.interval(0.95, 3, loc=np.mean(human), scale=stats.sem(human))
        assert (result.low, result.high) == (pytest.approx(low), pytest.approx(high))


@settings(deadline=None)
@given(shares, shares, shares, st.floats(-5, 5))
def test_judge_that_is_off_by_a_constant_is_corrected(human, judge, judge_only, off):
    exact = ppi_mean(human, judge, judge_only, lam=0.7)
    moved = ppi_mean(human, np.array(judge) + off, np.array(judge_only) + off, lam=0.7)
    assert moved.value == pytest.approx(exact.value, abs=1e-9)
    assert moved.se == pytest.approx(exact.se, abs=1e-9)


def test_good_judge_narrows_the_interval_and_covers():
    # 400 studies of 15 topics with people and 200 with the judge alone; the true mean is 0.5.
    generator = np.random.default_rng(7)
    covered, narrower = [], []
    for _ in range(400):
        truth = generator.normal(0.5, 0.2, 215)
        judge = truth + generator.normal(0.1, 0.08, 215)
        helped = ppi_mean(truth[:15], judge[:15], judge[15:])
        people_only = ppi_mean(truth[:15], judge[:15], judge[15:], lam=0)
        covered.append(helped.low <= 0.5 <= helped.high)
        narrower.append((helped.high - helped.low) / (people_only.high - people_only.low))
    # 95% of 400 has a standard deviation of 1.1%.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.04)
    assert np.median(narrower) < 0.6


def test_missing_values_are_left_out_and_counted():
    whole = ppi_mean([1, 3, 2], [0, 2, 2], [2, 4])
    result = ppi_mean([1, NAN, 3, 2, 5], [0, 1, 2, 2, NAN], [NAN, 2, 4])
    assert result.missing == 3
    assert (result.value, result.lam, result.se) == (whole.value, whole.lam, whole.se)


def test_undefined():
    result = ppi_mean([NAN], [1], [1, 2])
    assert result.reason == "undefined, because no topic has both people's grades and the judge's"
    assert (result.n, result.n_judge_only, result.missing) == (0, 2, 1)
    assert ppi_mean([1], [1], []).reason == "undefined, because the judge alone has no topic"


def test_single_topic_has_a_value_and_no_interval():
    for sides in (([2], [1], [3, 5]), ([2, 4], [1, 3], [3])):
        result = ppi_mean(*sides, lam=1)
        assert result.value is not None
        assert (result.low, result.se) == (None, None)
        assert "fewer than two topics" in result.interval_reason


def test_refuses():
    with pytest.raises(ValueError, match="equal length"):
        ppi_mean([1, 2], [1], [1, 2])
    with pytest.raises(ValueError, match="finite"):
        ppi_mean([1, 2], [1, np.inf], [1, 2])
    with pytest.raises(ValueError, match="lam is between"):
        ppi_mean([1, 2], [1, 2], [1, 2], lam=1.5)
    with pytest.raises(ValueError, match="a level is between"):
        ppi_mean([1, 2], [1, 2], [1, 2], level=95)
    with pytest.raises(ValueError, match="'t' or 'normal'"):
        ppi_mean([1, 2], [1, 2], [1, 2], reference="z")
