from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from evaluation.stats import randomisation
from evaluation.stats.randomisation import judge_swap, sign_flip, sign_flips
from tests.evaluation.golden_cases import assert_close, load

tenths = st.lists(st.integers(-9, 9).map(lambda tenth: tenth / 10), min_size=1, max_size=12)


@pytest.mark.parametrize("case", load("paired_randomisation"))
def test_golden_sign_flip(case):
    expected, tolerance = case["expected"], case["tolerance"]
    result = sign_flip(case["input"]["differences"])
    assert_close(result.value, expected["mean"], tolerance)
    assert_close(result.p, expected["p_two_sided"], tolerance)
    if any(case["input"]["differences"]):  # without any the cases count what could have differed
        assert_close(result.smallest_p, expected["smallest_possible_p"], tolerance)
    assert result.exact


@pytest.mark.parametrize("case", load("judge_swap_test"))
def test_golden_judge_swap(case):
    inputs, expected, tolerance = case["input"], case["expected"], case["tolerance"]
    topics = np.repeat(np.arange(len(inputs["human"])), len(inputs["human"][0]))
    sides = (np.concatenate(inputs[side]) for side in ("human", "judge_a", "judge_b"))
    result = judge_swap(*sides, inputs["labels"], topics)
    assert_close(result.kappa_a, expected["kappa_a"], tolerance)
    assert_close(result.kappa_b, expected["kappa_b"], tolerance)
    assert_close(result.value, expected["difference"], tolerance)
    assert_close(result.p, expected["p_two_sided"], tolerance)
    assert (result.exact, result.n_arrangements) == (True, expected["n_permutations"])


def test_sign_flip_by_hand():
    # Sums of +-1 +-2 +-4 are the odd numbers from -7 to 7, each once. 1 + 2 + 4 = 7 is reached by
    # 7 and -7: 2/8. -1 + 2 + 4 = 5 by 7, 5, -5 and -7: 4/8.
    assert sign_flip([1, 2, 4]).p == 2 / 8
    result = sign_flip([-1, 2, 4])
    assert result.p == 4 / 8
    assert result.value == pytest.approx(5 / 3)
    assert (result.n, result.n_arrangements, result.smallest_p) == (3, 8, 2 / 8)
    assert (result.exact, result.seed) == (True, None)


def test_topics_without_a_difference_do_not_lower_the_smallest_p():
    # Of 2^6 flips 2^4 x 2 leave 0.2 and 0.1 on one side: 2/4, not 2/64.
    result = sign_flip([0, 0, 0, 0, 0.2, 0.1])
    assert (result.n, result.p, result.smallest_p) == (6, 0.5, 0.5)
    # A difference that only rounding left moves no sum.
    assert sign_flip([0.1 + 0.2 - 0.3, 0.2, 0.1]).smallest_p == 0.5
    assert sign_flip([0, 0, 0]).smallest_p == 1


def test_topics_in_which_judges_say_the_same_do_not_lower_the_smallest_p():
    human, a, b = [1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 0]
    assert judge_swap(human, a, b, [0, 1], [1, 1, 2, 2]).smallest_p == 1
    assert judge_swap(human, a, [0, 0, 0, 0], [0, 1], [1, 1, 2, 2]).smallest_p == 0.5


def test_ties_that_rounding_parts_are_ties():
    # 0.1 + 0.2 - 0.3 is 5.6e-17, not 0: every flip is at least as far from 0 as no difference.
    assert sign_flip([0.1, 0.2, -0.3]).p == 1
    # 0.1 + 0.2 + 0.3 and its negative: 2/8, whatever the order of adding.
    assert sign_flip([0.3, 0.2, 0.1]).p == sign_flip([0.1, 0.2, 0.3]).p == 2 / 8


def test_small_differences_are_tested_like_large_ones():
    assert sign_flip([1e-15, 2e-15, 4e-15]).p == 2 / 8


@settings(deadline=None)
@given(tenths)
def test_sign_flip_against_all_flips(differences):
    signs = np.array(list(product([-1, 1], repeat=len(differences))))
    sums = np.round(signs @ (10 * np.array(differences))).astype(int)
    observed = abs(round(10 * sum(differences)))
    assert sign_flip(differences).p == (np.abs(sums) >= observed).mean()


@pytest.mark.parametrize("n", [3, 8, 13])
def test_sign_flip_against_scipy(n):
    differences = np.random.default_rng(n).normal(0.3, 1, n)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert sign_flip(differences).p == pytest.approx(theirs.pvalue)


def test_missing_topics_are_left_out_and_counted():
    result = sign_flip([1, np.nan, 2, 4])
    assert (result.n, result.missing, result.p) == (3, 1, 2 / 8)


@pytest.mark.parametrize("differences", [[], [np.nan, np.nan]])
def test_empty_differences_are_undefined(differences):
    result = sign_flip(differences)
    assert (result.value, result.p, result.n) == (None, None, 0)
    assert result.reason == "undefined, because there are no differences"
    assert result.missing == len(differences)


def test_many_topics_are_drawn_and_it_says_so():
    differences = np.random.default_rng(1).normal(0.2, 1, 60)
    result = sign_flip(differences, resamples=999, seed=5)
    assert (result.exact, result.seed, result.n_arrangements) == (False, 5, 1000)
    assert result.smallest_p == 1 / 1000
    assert result.p * 1000 == pytest.approx(round(result.p * 1000))
    assert sign_flip(differences, resamples=999, seed=5).p == result.p
    assert sign_flip(differences, resamples=999, seed=6).p != result.p


def test_drawn_p_is_never_zero():
    # No flip of 60 equal differences is as far from 0: (0 + 1) / (99 + 1).
    assert sign_flip(np.ones(60), resamples=99).p == 1 / 100


def test_zeros_are_no_reason_to_draw():
    assert sign_flip(np.r_[np.zeros(100), 1, 2, 4]).exact


def test_drawn_and_exact_p_agree(monkeypatch):
    differences = np.random.default_rng(2).normal(0.3, 1, 24)
    exact = sign_flip(differences)
    monkeypatch.setattr(randomisation, "FLIPS_EXACT_UP_TO", 10)
    sampled = sign_flip(differences, resamples=9_999)
    assert (exact.exact, sampled.exact) == (True, False)
    error = np.sqrt(exact.p * (1 - exact.p) / 10_000)
    assert sampled.p == pytest.approx(exact.p, abs=5 * error)


def test_many_comparisons_at_once_are_each_as_alone():
    generator = np.random.default_rng(3)
    matrix = generator.normal(size=(40, 5))
    matrix[20:, 0] = np.nan
    matrix[:, 1] = 0
    results = sign_flips(matrix, resamples=199, seed=9)
    assert [result.exact for result in results] == [True, True, False, False, False]
    assert results == tuple(sign_flip(row, resamples=199, seed=9) for row in matrix.T)
    assert sign_flips(np.empty((4, 0))) == ()


def test_drawing_in_blocks_is_drawing(monkeypatch):
    differences = np.random.default_rng(4).normal(0.2, 1, 50)
    whole = sign_flip(differences, resamples=500)
    monkeypatch.setattr(randomisation, "BLOCK", 333)
    assert sign_flip(differences, resamples=500) == whole


def swapped_by_hand(human, a, b, labels, topics, weights):
    """The difference of every swap, by scikit-learn."""
    names = np.unique(topics)
    differences = []
    for swap in product([False, True], repeat=len(names)):
        turned = np.isin(topics, names[list(swap)])
        kappas = [
            cohen_kappa_score(
                human, np.where(turned, judge, swapped_judge), labels=labels, weights=weights
            )
            for judge, swapped_judge in ((b, a), (a, b))
        ]
        differences.append(kappas[0] - kappas[1])
    return np.array(differences)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_judge_swap_against_every_swap(weights):
    generator = np.random.default_rng(6)
    labels, topics = [0, 1, 2], np.repeat(["c", "a", "b", "e", "d"], [4, 9, 7, 5, 6])
    human = generator.integers(0, 3, 31)
    a, b = (
        np.where(generator.random(31) < share, human, generator.integers(0, 3, 31))
        for share in (0.8, 0.5)
    )
    swaps = swapped_by_hand(human, a, b, labels, topics, weights)
    result = judge_swap(human, a, b, labels, topics, weights=weights)
    assert result.value == pytest.approx(swaps[0])
    assert result.p == (np.abs(swaps) >= abs(swaps[0]) - 1e-12).mean()
    assert (result.n, result.n_topics, result.n_arrangements) == (31, 5, 32)
    # In topic c both judges say the same, so that two swaps of each kind are alike.
    assert result.smallest_p == np.isclose(np.abs(swaps), np.abs(swaps).max()).mean() == 4 / 32


def test_judge_swap_by_hand():
    # Topic 1: human 1 0, judge a the same, judge b 0 1. Topic 2: 1 0, a 1 0, b 1 0 as well.
    # a agrees throughout: kappa 1. b agrees on 2 of 4, where chance gives 1/2: kappa 0.
    # Only topic 1 matters: the difference is 1 or -1 in all four swaps, so p = 1.
    result = judge_swap([1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 1], [1, 1, 2, 2])
    assert (result.kappa_a, result.kappa_b, result.value, result.p) == (1, 0, 1, 1)


def test_items_without_all_three_grades_are_left_out():
    nan = np.nan
    whole = judge_swap([1, 0, 1], [1, 0, 1], [0, 0, 1], [0, 1], [1, 1, 2])
    more = judge_swap(
        [1, 0, 1, nan, 1, 0], [1, 0, 1, 1, nan, 0], [0, 0, 1, 1, 1, nan], [0, 1], [1, 1, 2, 2, 3, 3]
    )
    assert (more.value, more.p, more.n, more.missing) == (whole.value, whole.p, 3, 3)
    assert more.n_topics == 2


def test_many_topics_of_judges_are_drawn(monkeypatch):
    generator = np.random.default_rng(8)
    human = generator.integers(0, 2, 60)
    a, b = (np.where(generator.random(60) < share, human, 1 - human) for share in (0.85, 0.7))
    inputs = human, a, b, [0, 1], np.repeat(np.arange(12), 5)
    exact = judge_swap(*inputs)
    monkeypatch.setattr(randomisation, "SWAPS_EXACT_UP_TO", 11)
    sampled = judge_swap(*inputs, resamples=4_999, seed=3)
    assert (sampled.exact, sampled.seed, sampled.n_arrangements) == (False, 3, 5_000)
    assert sampled.smallest_p == 1 / 5_000
    error = np.sqrt(exact.p * (1 - exact.p) / 5_000)
    assert sampled.p == pytest.approx(exact.p, abs=5 * error)


def test_identical_judges_have_p_of_one():
    result = judge_swap([0, 1, 0], [0, 1, 1], [0, 1, 1], [0, 1], [1, 2, 3])
    assert (result.value, result.p) == (0, 1)


def test_judge_without_kappa_is_undefined():
    result = judge_swap([1, 1, 1], [1, 1, 1], [0, 1, 1], [0, 1], [1, 1, 2])
    assert result.reason == "undefined, because the human and a judge put all items in one category"
    assert (result.kappa_a, result.kappa_b, result.p) == (None, 0, None)


def test_swap_without_kappa_leaves_no_p():
    # Swapped in topic 2 alone, judge a says 1 throughout, as the human does.
    result = judge_swap([1, 1], [1, 0], [0, 1], [0, 1], [1, 2])
    assert (result.value, result.p) == (0, None)
    assert result.p_reason == "undefined, because some swaps leave a judge without a kappa"


def test_judges_without_common_items_are_undefined():
    result = judge_swap([np.nan, 1], [1, np.nan], [1, 1], [0, 1], [1, 1])
    assert result.reason == "undefined, because no item was graded by the human and both judges"
    assert (result.n, result.missing, result.n_topics) == (0, 2, 0)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_exchanging_the_judges_turns_the_difference_round(data):
    grades = st.lists(st.integers(0, 2), min_size=12, max_size=12)
    human, a, b = (data.draw(grades) for _ in range(3))
    topics = np.repeat([1, 2, 3], 4)
    swap = judge_swap(human, a, b, [0, 1, 2], topics)
    exchanged = judge_swap(human, b, a, [0, 1, 2], topics)
    assert swap.p == exchanged.p
    assert swap.value is None or swap.value == -exchanged.value


def test_refuses():
    with pytest.raises(ValueError, match="one list"):
        sign_flip([[1, 2]])
    with pytest.raises(ValueError, match="topics x comparisons"):
        sign_flips([1, 2])
    with pytest.raises(ValueError, match="finite"):
        sign_flip([1, np.inf])
    with pytest.raises(ValueError, match="at least one resample"):
        sign_flip([1, 2], resamples=0)
    with pytest.raises(ValueError, match="equal length"):
        judge_swap([1, 0], [1, 0], [1], [0, 1], [1, 1])
    with pytest.raises(ValueError, match="equal length"):
        judge_swap([1, 0], [1, 0], [1, 1], [0, 1], [1])
    with pytest.raises(ValueError, match="outside the scale"):
        judge_swap([1, 2], [1, 0], [1, 1], [0, 1], [1, 1])
    with pytest.raises(ValueError, match="weights"):
        judge_swap([1, 0], [1, 0], [1, 1], [0, 1], [1, 1], weights="cubic")
    with pytest.raises(ValueError, match="at least one resample"):
        judge_swap([1, 0], [1, 0], [1, 1], [0, 1], [1, 1], resamples=0)
