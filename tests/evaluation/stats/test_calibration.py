"""evaluation.stats.calibration"""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from evaluation.stats.calibration import calibration

TENTHS = np.linspace(0, 1, 11)


def test_by_hand():
    # Two bins. Up to 0.5: 0.2 and 0.5 expected, 0 and 1 observed: means 0.35 and 0.5, off by 0.15.
    # Above: 0.9, 0.9, observed 1 and 0: 0.9 and 0.5, off by 0.4. ECE = 2/4 x 0.15 + 2/4 x 0.4.
    # Brier: (0.04 + 0.25 + 0.01 + 0.81) / 4.
    result = calibration([0.2, 0.5, 0.9, 0.9], [0, 1, 1, 0], np.array([1, 1, 2, 2]), [0, 0.5, 1])
    low, high = result.bins
    assert (low.n, low.expected, low.observed) == (2, pytest.approx(0.35), 0.5)
    assert (high.n, high.expected, high.observed) == (2, pytest.approx(0.9), 0.5)
    assert result.error.value == pytest.approx(0.275)
    assert result.squared.value == pytest.approx(1.11 / 4)
    assert result.bias.value == pytest.approx(2.5 / 4 - 0.5)
    # Gaps of the bins: -0.15 x 2/4 and 0.4 x 2/4; without topic 1: 0 and 0.4, without topic 2: -0.15
    # and 0. Jackknife of two: se is half of how far these are apart, 0.075 and 0.2, which are |gap|:
    # E|N(g, g^2)| - g is 2 g (pdf(1) - (1 - cdf(1))) = 0.166630 g.
    assert result.debiased.value == pytest.approx(0.275 * (1 - 0.166630), abs=1e-6)
    for estimate in (result.error, result.debiased):
        assert estimate.low is None
    assert "chance alone" in result.error.interval_reason
    assert "fewer than 20 topics" in result.debiased.interval_reason


def test_grades_are_compared_in_grades():
    result = calibration([0.4, 2.6], [0, 2], np.array([1, 2]), [0, 0.5, 1.5, 2.5, 3])
    assert result.error.value == pytest.approx((0.4 + 0.6) / 2)
    assert [part.n for part in result.bins] == [1, 0, 0, 1]
    assert result.bins[1].expected is None


def test_points_are_those_of_scikit_learn():
    generator = np.random.default_rng(5)
    expected = np.round(generator.random(300), 2)
    observed = (generator.random(300) < expected**2).astype(float)
    result = calibration(expected, observed, generator.integers(0, 9, 300), TENTHS)
    shares, means = calibration_curve(observed, expected, n_bins=10)
    filled = [part for part in result.bins if part.n]
    assert [part.expected for part in filled] == pytest.approx(means)
    assert [part.observed for part in filled] == pytest.approx(shares)
    assert result.squared.value == pytest.approx(brier_score_loss(observed, expected))


def test_missing_is_counted_and_nothing_is_undefined():
    result = calibration([np.nan, 0.5], [1, np.nan], np.array([1, 2]), TENTHS)
    for estimate in (result.error, result.debiased, result.squared, result.bias):
        assert (estimate.value, estimate.n, estimate.missing) == (None, 0, 2)
        assert "no rating" in estimate.reason
    one = calibration([0.5, 0.5], [1, np.nan], np.array([1, 2]), TENTHS)
    assert (one.error.value, one.error.missing) == (0.5, 1)
    assert (one.debiased.value, one.debiased.missing) == (None, 1)
    assert "two of them" in one.debiased.reason
    assert "fewer than two clusters" in one.squared.interval_reason


def test_debiased_error_of_a_calibrated_judge_is_nearer_to_zero_and_has_an_interval():
    generator = np.random.default_rng(7)
    expected = generator.random(800)
    observed = (generator.random(800) < expected).astype(float)
    result = calibration(expected, observed, np.repeat(np.arange(20), 40), TENTHS)
    assert 0 <= result.debiased.low <= result.debiased.value < result.error.value
    assert result.debiased.low == 0
    assert result.debiased.value < result.debiased.high < 1
    few = calibration(expected[:760], observed[:760], np.repeat(np.arange(19), 40), TENTHS)
    assert few.debiased.low is None


@pytest.mark.parametrize(
    ("expected", "observed", "topics", "edges"),
    [
        ([0.1], [1, 0], [1], TENTHS),
        ([0.1], [1], [1, 2], TENTHS),
        ([0.1], [1], [1], [1, 0]),
        ([1.1], [1], [1], TENTHS),
    ],
)
def test_wrong_input(expected, observed, topics, edges):
    with pytest.raises(ValueError, match=r"."):
        calibration(expected, observed, np.array(topics), edges)
