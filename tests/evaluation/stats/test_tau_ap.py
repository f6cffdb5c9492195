"""evaluation.stats.tau_ap"""

import numpy as np
import pytest

from evaluation.stats.tau_ap import symmetric_tau_ap, tau_ap


def test_by_hand():
    # The truth is d c b a (4 3 2 1); the order is d b c a. Rank 2, b: d above, rightly: 1/1. Rank 3, c: d
    # rightly, b wrongly: 1/2. Rank 4, a: 3/3. 2/3 x 2.5 - 1 = 2/3.
    truth, order = [1, 2, 3, 4], [1, 3, 2, 4]
    assert tau_ap(order, truth).value == pytest.approx(2 / 3)
    # At the top it weighs more: c d b a. Rank 2, d: 0/1; then 2/2 and 3/3: 2/3 x 2 - 1 = 1/3.
    assert tau_ap([1, 2, 4, 3], truth).value == pytest.approx(1 / 3)


def test_ends_and_direction():
    truth = [1, 2, 3, 4, 5]
    assert tau_ap(truth, truth).value == 1
    assert tau_ap(truth, truth[::-1]).value == -1
    # d c b a against a d c b: rank by rank 1, 1, 0 of 3: 2/3 x 2 - 1 = 1/3; the other way 0/1, 1/2, 2/3.
    a, b = [1, 2, 3, 4], [4, 1, 2, 3]
    assert tau_ap(a, b).value == pytest.approx(1 / 3)
    assert tau_ap(b, a).value == pytest.approx(2 / 3 * (0 + 1 / 2 + 2 / 3) - 1)
    assert symmetric_tau_ap(a, b).value == pytest.approx(
        (tau_ap(a, b).value + tau_ap(b, a).value) / 2
    )


def test_random_order_has_none_on_average():
    generator = np.random.default_rng(0)
    values = [tau_ap(generator.permutation(8), np.arange(8)).value for _ in range(2000)]
    assert np.mean(values) == pytest.approx(0, abs=0.03)


def test_undefined_and_missing():
    assert tau_ap([1, 2, 3, np.nan], [1, 2, 3, 4]).missing == 1
    assert "fewer than three" in tau_ap([1, 2], [1, 2]).reason
    assert "no ties" in symmetric_tau_ap([1, 1, 2], [1, 2, 3]).reason
    assert "no ties" in symmetric_tau_ap([1, 2, 3], [1, 2, 2]).reason
    with pytest.raises(ValueError, match="equal length"):
        tau_ap([1], [1, 2])
