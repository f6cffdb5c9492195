import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.density import density

counts = st.integers(1, 20)
lengths = st.integers(1, 5000)


def test_by_hand():
    # 4 questions in 200 words, the oracle 8 in 100: (4/200)/(8/100) = 1/4, and its root is 1/2.
    result = density(4, 200, 8, 100)
    assert (result.value, result.n) == (pytest.approx(1 / 2), 200)
    assert density(4, 200, 8, 100, weight=1).value == pytest.approx(1 / 4)


def test_density_may_exceed_one():
    # The same questions in a quarter of the words: sqrt(4) = 2.
    assert density(8, 25, 8, 100).value == pytest.approx(2)


def test_coverages_do_as_well_as_counts():
    assert density(4, 200, 8, 100).value == pytest.approx(density(0.5, 200, 1, 100).value)


def test_covers_nothing():
    assert density(0, 200, 8, 100).value == 0


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ((0, 0, 8, 100), "the context has no tokens"),
        ((4, 200, 8, 0), "the oracle has no tokens"),
        ((0, 200, 0, 100), "the oracle covers no question"),
    ],
)
def test_undefined(numbers, reason):
    result = density(*numbers)
    assert result.value is None
    assert result.reason == f"undefined, because {reason}"


@given(counts, lengths, counts, lengths)
def test_oracle_against_itself_is_one_and_swapping_inverts(covered, tokens, oracle_covered, length):
    assert density(covered, tokens, covered, tokens).value == pytest.approx(1)
    forward = density(covered, tokens, oracle_covered, length).value
    assert forward * density(oracle_covered, length, covered, tokens).value == pytest.approx(1)


@pytest.mark.parametrize(
    "numbers", [(-1, 200, 8, 100), (4, float("nan"), 8, 100), (4, 200, float("inf"), 100)]
)
def test_refuses_numbers(numbers):
    with pytest.raises(ValueError, match="numbers from 0"):
        density(*numbers)


@pytest.mark.parametrize("weight", [-1, float("nan")])
def test_refuses_weights(weight):
    with pytest.raises(ValueError, match="the weight are numbers from 0"):
        density(4, 200, 8, 100, weight)
