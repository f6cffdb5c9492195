import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evaluation.stats.randomisation import holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_by_hand():
    # Ascending: 0.01 x 4 = 0.04, 0.02 x 3 = 0.06, 0.03 x 2 = 0.06, 0.04 x 1 = 0.04. The last may
    # not be below the one before it, so 0.06.
    assert holm([0.04, 0.01, 0.03, 0.02]).tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_adjusted_p_is_at_most_one():
    # 0.4 x 3 = 1.2 is 1, and so are those after it.
    assert holm([0.4, 0.5, 0.9]).tolist() == [1, 1, 1]


def test_test_without_p_is_not_counted():
    adjusted = holm([0.01, np.nan, 0.02])
    assert adjusted[[0, 2]].tolist() == [0.02, 0.02]
    assert np.isnan(adjusted[1])


def test_empty_list_of_tests():
    assert holm([]).tolist() == []


@pytest.mark.parametrize("seed", range(5))
def test_against_statsmodels(seed):
    generator = np.random.default_rng(seed)
    values = np.round(generator.random(20) ** 3, 2)
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1])


@settings(deadline=None)
@given(p_values)
def test_never_below_p_and_in_the_same_order(values):
    adjusted = holm(values)
    assert (adjusted >= np.array(values)).all()
    assert (np.diff(adjusted[np.argsort(values)]) >= 0).all()


@pytest.mark.parametrize("values", [[0.5, 1.1], [-0.1], [np.inf]])
def test_refuses_what_is_not_a_p_value(values):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(values)


def test_refuses_a_matrix():
    with pytest.raises(ValueError, match="one list"):
        holm([[0.1, 0.2]])
