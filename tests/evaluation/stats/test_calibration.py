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
    made = calibration([0.2, 0.5, 0.9, 0.9], [0, 1, 1, 0], np.array([1, 1, 2, 2]), [0, 0.5, 1])
    low, high = made.bins
    assert (low.n, low.expected, low.observed) == (2, pytest.approx(0.35), 0.5)
    assert (high.n, high.expected, high.observed) == (2, pytest.approx(0.9), 0.5)
    assert made.error.value == pytest.approx(0.275)
    assert made.squared.value == pytest.approx(1.11 / 4)
    assert made.bias.value == pytest.approx(2.5 / 4 - 0.5)
    # Gaps of the bins: -0.15 x 2/4 and 0.4 x 2/4; without topic 1: 0 and 0.4, without topic 2: -0.15
    # and 0. Jackknife of two: se is half of how far these are apart, 0.075 and 0.2, which are |gap|:
    # E|N(g, g^2)| - g is 2 g (pdf(1) - (1 - cdf(1))) = 0.166630 g.
    assert made.debiased.value == pytest.approx(0.275 * (1 - 0.166630), abs=1e-6)
    for estimate in (made.error, made.debiased):
        assert estimate.low is None
    assert "chance alone" in made.error.interval_reason
    assert "fewer than 20 topics" in made.debiased.interval_reason


def test_grades_are_compared_in_grades():
    made = calibration([0.4, 2.6], [0, 2], np.array([1, 2]), [0, 0.5, 1.5, 2.5, 3])
    assert made.error.value == pytest.approx((0.4 + 0.6) / 2)
    assert [part.n for part in made.bins] == [1, 0, 0, 1]
    assert made.bins[1].expected is None


def test_the_points_are_those_of_scikit_learn():
    generator = np.random.default_rng(5)
    expected = np.round(generator.random(300), 2)
    observed = (generator.random(300) < expected**2).astype(float)
    made = calibration(expected, observed, generator.integers(0, 9, 300), TENTHS)
    shares, means = calibration_curve(observed, expected, n_bins=10)
    filled = [part for part in made.bins if part.n]
    assert [part.expected for part in filled] == pytest.approx(means)
    assert [part.observed for part in filled] == pytest.approx(shares)
    assert made.squared.value == pytest.approx(brier_score_loss(observed, expected))


def test_missing_is_counted_and_nothing_is_undefined():
    made = calibration([np.nan, 0.5], [1, np.nan], np.array([1, 2]), TENTHS)
    for estimate in (made.error, made.debiased, made.squared, made.bias):
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
    made = calibration(expected, observed, np.repeat(np.arange(20), 40), TENTHS)
    assert 0 <= made.debiased.low <= made.debiased.value < made.error.value
    assert made.debiased.low == 0
    assert made.debiased.value < made.debiased.high < 1
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
