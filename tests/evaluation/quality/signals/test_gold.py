import pytest
from statsmodels.stats.proportion import proportion_confint

from evaluation.quality.signals.gold import accuracy, weight


@pytest.mark.parametrize(("right", "n"), [(0, 1), (3, 10), (10, 10), (70, 72)])
def test_interval_is_wilsons(right, n):
    estimate = accuracy(right, n)
    assert (estimate.value, estimate.n) == (right / n, n)
    assert (estimate.low, estimate.high) == pytest.approx(
        proportion_confint(right, n, method="wilson"), abs=1e-12
    )


def test_by_hand():
    # z2 = 3.8415; centre = (0.5 + z2/20) / (1 + z2/10) = 0.5 by symmetry, and the reach is
    # 1.96 sqrt(0.25/10 + z2/400) / 1.38415 = 0.2634.
    estimate = accuracy(5, 10)
    assert (estimate.low, estimate.high) == pytest.approx((0.2366, 0.7634), abs=5e-5)


def test_accuracy_of_no_answers_is_undefined():
    assert accuracy(0, 0).reason == "undefined, because no gold item was answered"
    assert accuracy(0, 0, "no check was").reason == "undefined, because no check was"
    assert weight(0, 0).value is None


def test_weight_moves_slowly_and_is_never_nothing():
    assert weight(0, 1).value == pytest.approx(1 / 3)
    assert weight(1, 1).value == pytest.approx(2 / 3)
    assert weight(9, 10).value == pytest.approx(10 / 12)


@pytest.mark.parametrize("counted", [accuracy, weight])
def test_more_right_than_asked_is_refused(counted):
    with pytest.raises(ValueError, match="cannot be"):
        counted(3, 2)
