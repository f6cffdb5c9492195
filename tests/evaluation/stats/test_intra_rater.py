"""Agreement of raters with themselves, against values by hand."""

import numpy as np
import pytest

from evaluation.stats.intra_rater import intra_rater


def test_share_has_a_jackknife_interval_over_topics():
    """Four topics of five pairs; 4, 4, 5 and 4 of them have equal grades."""
    topics = np.repeat(np.arange(4), 5)
    first = np.tile([0.0, 1, 1, 0, 1], 4)
    second = first.copy()
    second[[0, 5, 15]] = 1
    result = intra_rater(first, second, [0, 1], topics)
    assert (result.equal.value, result.equal.n) == (0.85, 20)
    # Without one topic 13/15, 13/15, 12/15, 13/15: SE = 0.05, and t(3) = 3.182.
    assert result.equal.low == pytest.approx(0.85 - 3.18245 * 0.05, abs=1e-5)
    assert result.equal.high == 1
    # First: 12 of 20 are 1; second: 15. By chance 0.6 × 0.75 + 0.4 × 0.25 = 0.55.
    assert result.kappa.value == pytest.approx((0.85 - 0.55) / 0.45)


def test_kappa_of_a_scale_is_weighted():
    """Distances squared: 4 in all; expected by the shares of grades 40 / 5."""
    first, second = np.array([0.0, 1, 2, 2, 0]), np.array([0.0, 1, 2, 0, 0])
    result = intra_rater(first, second, [0, 1, 2], np.zeros(5, np.int64), "quadratic")
    assert result.kappa.value == pytest.approx(1 - 4 / 8)
    assert result.kappa.interval_reason == "no interval, because there are fewer than two clusters"


@pytest.mark.parametrize(
    ("n", "reason"),
    [(0, "no pair was graded twice"), (4, "fewer than 5 pairs were graded twice")],
)
def test_few_pairs_give_a_reason(n, reason):
    result = intra_rater(np.ones(n), np.ones(n), [0, 1], np.zeros(n, np.int64))
    for estimate in (result.equal, result.kappa):
        assert (estimate.value, estimate.reason, estimate.n) == (
            None,
            f"undefined, because {reason}",
            n,
        )


def test_kappa_of_one_grade_is_undefined():
    result = intra_rater(np.ones(5), np.ones(5), [0, 1], np.arange(5))
    assert result.equal.value == 1
    assert result.kappa.reason == "undefined, because all ratings are in one category"
