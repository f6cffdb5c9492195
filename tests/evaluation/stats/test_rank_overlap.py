import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.stats.overlap import rbo_ext
from tests.evaluation.golden_cases import assert_close, load

rankings = st.permutations("abcdefgh").flatmap(
    lambda order: st.integers(1, 8).map(lambda length: order[:length])
)


@pytest.mark.parametrize("case", load("rbo_ext"))
def test_golden(case):
    inputs = case["input"]
    result = rbo_ext(inputs["a"], inputs["b"], inputs["p"])
    assert_close(result.value, case["expected"]["value"], case["tolerance"])


def test_by_hand():
    # ab and ba at p = 1/2: agreement 0 at depth 1, 1 at depth 2 and, extrapolated, below.
    # The weights of the depths are 1/2, 1/4, 1/8 ...: all but the first, 1/2.
    result = rbo_ext("ab", "ba", 0.5)
    assert (result.value, result.n) == (0.5, 2)


def test_uneven_by_hand():
    # ab and a at p = 1/2. Agreement 1 at depth 1. At depth 2 the short list is taken to go on
    # agreeing as it does at its end, 1 more of 1: (1 + 1)/2 = 1. So 1 in all.
    assert rbo_ext("ab", "a", 0.5).value == pytest.approx(1)
    # ba and a: 0 at depth 1, where the short list ends; a is common at depth 2: 1/2 from there on.
    # 0 x 1/2 + 1/2 x (1/4 + 1/8 + ...) = 1/4.
    assert rbo_ext("ba", "a", 0.5).value == pytest.approx(1 / 4)


def endless(a, b, p):
    """The sum of equation 4 far down, with the agreement of each depth extrapolated as in 4.4."""
    short, long = sorted((a, b), key=len)
    s, depth = len(short), len(long)
    at_end = len(set(short) & set(long[:s]))
    total = 0.0
    for d in range(1, 400):
        rank = min(d, depth)
        common = len(set(long[:rank]) & set(short[:rank]))
        agreement = (common + at_end * max(rank - s, 0) / s) / rank
        total += (1 - p) * p ** (d - 1) * agreement
    return total


@settings(deadline=None)
@given(rankings, rankings, st.floats(0.1, 0.9))
def test_against_the_sum_over_the_depths(a, b, p):
    result = rbo_ext(a, b, p)
    assert result.value == pytest.approx(endless(a, b, p))
    assert result.value == rbo_ext(b, a, p).value
    assert -1e-12 < result.value < 1 + 1e-12


@settings(deadline=None)
@given(rankings, st.floats(0.01, 0.99))
def test_ranking_overlaps_itself(a, p):
    assert rbo_ext(a, a, p).value == pytest.approx(1)


def test_empty_ranking_is_undefined():
    result = rbo_ext([], ["a"], 0.9)
    assert (result.value, result.n) == (None, 1)
    assert result.reason == "undefined, because a ranking is empty"


def test_refuses():
    for p in (0, 1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            rbo_ext("a", "b", p)
    with pytest.raises(ValueError, match="each item once"):
        rbo_ext("aa", "b", 0.9)
