"""ICC and Bland and Altman's limits, on published tables and by hand."""

import numpy as np
import pytest

from evaluation.stats.intraclass import intraclass, limits_of_agreement

NAN = np.nan
# Shrout and Fleiss (1979), table 2: six targets by four judges.
PUBLISHED = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_table_of_shrout_and_fleiss():
    # Mean squares 11.24 (targets), 32.49 (judges), 1.02 (rest); they print .29 and .62.
    icc = intraclass(PUBLISHED)
    assert icc.single.value == pytest.approx(0.2898, abs=5e-5)
    assert icc.mean.value == pytest.approx(0.6201, abs=5e-5)
    assert (icc.single.n, icc.single.missing) == (6, 0)


def test_by_hand():
    # Items (1 2), (3 4): item means 1.5, 3.5, rater means 2, 3. Squares: items 2 * (1 + 1) = 4 on 1, raters
    # 2 * (.25 + .25) = 1 on 1, rest 0. One: (4 - 0) / (4 + 0 + 2 * 1 / 2) = 0.8; mean: 4 / (4 + 1 / 2).
    icc = intraclass([[1, 2], [3, 4], [5, NAN]])
    assert icc.single.value == pytest.approx(0.8)
    assert icc.mean.value == pytest.approx(8 / 9)
    assert icc.single.missing == 1


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[1], [2]], "two raters"),
        ([[1, 2], [NAN, 2]], "fewer than two items"),
        ([[3, 3], [3, 3]], "all grades are the same"),
    ],
)
def test_undefined(ratings, reason):
    assert reason in (intraclass(ratings).single.reason or "")


def test_whole_of_nothing_is_no_huge_value_by_rounding():
    # Means of items 2, 1, 1, of raters 4/3 twice, of all 4/3. Squares between items 2 x 2/3, over 2: 2/3.
    # Between raters 0. Residuals 0 0, 1 -1, -1 1: 4, over 2: 2. ICC(2,k) is over 2/3 + (0 - 2) / 3 = 0.
    assert "differ by nothing" in (intraclass([[2, 2], [2, 0], [0, 2]]).mean.reason or "")


def test_refuses_another_shape():
    with pytest.raises(ValueError, match="items x raters"):
        intraclass([1, 2])


def test_limits():
    # Differences 1, 3, 2: mean 2, sd 1.
    limits = limits_of_agreement([2, 5, 4, 1], [1, 2, 2, NAN])
    assert limits.bias.value == pytest.approx(2)
    assert (limits.low.value, limits.high.value) == (pytest.approx(0.04), pytest.approx(3.96))
    assert (limits.bias.n, limits.bias.missing) == (3, 1)
    assert (
        limits_of_agreement([2], [1]).low.reason
        == "undefined, because one difference does not spread"
    )
    assert limits_of_agreement([NAN], [1]).bias.value is None
