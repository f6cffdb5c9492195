import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.stats.sampling import probabilities, systematic


def test_probabilities_by_hand():
    # Gaps 1, 3 of 4; an even part of 1/5 among 2: weights 1/10 + 4/5 x (1/4, 3/4) = 0.3, 0.7; n = 1.
    assert probabilities([1, 3], 1).tolist() == pytest.approx([0.3, 0.7])


def test_probability_above_one_is_capped():
    # Weights 1/15 + 4/5 x (10, 1, 1)/12: the first would be 2 x 0.733; it is sure, the others share 1.
    assert probabilities([10, 1, 1], 2).tolist() == pytest.approx([1, 0.5, 0.5])


@pytest.mark.parametrize("gaps", [[np.nan] * 4, [0, 0, 0, 0]])
def test_without_known_gaps_all_are_equal(gaps):
    assert probabilities(gaps, 2).tolist() == [0.5] * 4


def test_all_can_be_drawn():
    assert probabilities([1, 2, 0], 3).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("gaps", "n", "even", "message"),
    [
        ([1, 2], 3, 0.2, "between 1 and 2 texts"),
        ([1, 2], 0, 0.2, "between 1 and 2 texts"),
        ([1, -2], 1, 0.2, "not negative"),
        ([1, np.nan], 1, 0.2, "every text is needed"),
        ([1, 2], 1, 0, "above 0"),
    ],
)
def test_impossible_draws_are_refused(gaps, n, even, message):
    with pytest.raises(ValueError, match=message):
        probabilities(gaps, n, even)


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=40), st.data(), st.integers(0, 2**32))
def test_as_many_are_drawn_as_were_asked_for_and_no_text_is_ruled_out(gaps, data, seed):
    n = data.draw(st.integers(1, len(gaps)))
    chances = probabilities(gaps, n)
    assert chances.sum() == pytest.approx(n)
    assert (chances > 0).all()
    assert (chances <= 1).all()
    sample = systematic(chances, seed)
    assert len(set(sample.tolist())) == n
    assert sample.tolist() == systematic(chances, seed).tolist()


def test_draw_frequencies_match_the_probabilities():
    chances = probabilities([1, 2, 3, 4, 10], 2)
    times = np.zeros(5)
    for seed in range(4000):
        times[systematic(chances, seed)] += 1
    assert times / 4000 == pytest.approx(chances, abs=0.03)  # four standard errors


@pytest.mark.parametrize(
    ("chances", "message"), [([0.5, 0.6], "not whole"), ([1.5, 0.5], "between 0 and 1")]
)
def test_bad_probabilities_are_refused(chances, message):
    with pytest.raises(ValueError, match=message):
        systematic(chances, 1)
