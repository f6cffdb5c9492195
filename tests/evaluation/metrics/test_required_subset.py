import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.metrics.required_subset import required_subset

VARIANTS = ("greedy_marginal", "static_skip", "static_noskip", "authors")
grades = arrays(
    np.float64,
    st.tuples(st.integers(0, 8), st.integers(0, 6)),
    elements=st.sampled_from([0, 1, 2, 3, 4, 5, np.nan]),
)


def test_by_hand():
    # Answered at eta 3: A = {0,1,2}, B = {0,1}, C = {2,3}, D = {3}.
    # Greedy: A answers 3; then C and D answer question 3 alone, and C comes first. B is redundant.
    # Static order by count: A (3), B and C (2 each, in the order given), D (1). With skipping, B
    # adds nothing and C the last question; without, B stays, with a gain of 0.
    matrix = [[5, 4, 3, 0], [3, 3, 0, 0], [0, 0, 3, 5], [0, 0, 0, 4]]
    greedy = required_subset(matrix, 3)
    assert (greedy.rows, greedy.gains, greedy.covered) == ((0, 2), (3, 1), (0, 1, 2, 3))
    assert required_subset(matrix, 3, "static_skip").rows == (0, 2)
    everything = required_subset(matrix, 3, "static_noskip")
    assert (everything.rows, everything.gains) == ((0, 1, 2), (3, 0, 1))


def test_static_order_can_need_more_passages_by_hand():
    # A = {0,1,2}, B = {0,1,3}, C = {3,4}. Greedy takes C after A: two new questions, not one.
    # The static order goes A, B, C: B adds question 3 and C question 4.
    matrix = [[5, 5, 5, 0, 0], [5, 5, 0, 5, 0], [0, 0, 0, 5, 5]]
    assert required_subset(matrix, 3).rows == (0, 2)
    assert required_subset(matrix, 3, "static_skip").rows == (0, 1, 2)


def test_unrated_cell_answers_nothing_and_is_counted():
    subset = required_subset([[np.nan, 5], [2, np.nan]], 3)
    assert (subset.rows, subset.covered, subset.n, subset.missing) == ((0,), (1,), 2, 2)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("matrix", [np.empty((0, 3)), np.empty((2, 0)), [[0, 2], [1, 2]]])
def test_pool_without_answers_has_an_empty_subset(variant, matrix):
    subset = required_subset(matrix, 3, variant)
    assert (subset.rows, subset.gains, subset.covered) == ((), (), ())


@given(grades, st.sampled_from(VARIANTS), st.integers(1, 5))
def test_subset_answers_all_that_any_passage_answers(matrix, variant, eta):
    subset = required_subset(matrix, eta, variant)
    assert subset.covered == tuple(np.flatnonzero((matrix >= eta).any(axis=0)))
    assert sum(subset.gains) == len(subset.covered)
    assert len(set(subset.rows)) == len(subset.rows)


@given(grades, st.integers(1, 5), st.randoms())
def test_order_of_the_questions_changes_nothing(matrix, eta, random):
    order = list(range(matrix.shape[1]))
    random.shuffle(order)
    for variant in VARIANTS:
        assert (
            required_subset(matrix, eta, variant).rows
            == required_subset(matrix[:, order], eta, variant).rows
        )


@given(grades, st.integers(1, 5))
def test_authors_bonus_never_changes_a_choice(matrix, eta):
    # Their rule: new answers + 0.1 if any rating on an open question is above 0, first of the best.
    ratings, rows = np.nan_to_num(matrix), []
    is_open = np.ones(matrix.shape[1], dtype=bool)
    while (ratings[:, is_open] >= eta).any():
        rated = ratings[:, is_open]
        rows.append(int(np.argmax((rated >= eta).sum(axis=1) + 0.1 * (rated > 0).any(axis=1))))
        is_open &= ratings[rows[-1]] < eta
    assert required_subset(matrix, eta, "authors").rows == tuple(rows)
    assert required_subset(matrix, eta, "greedy_marginal").rows == tuple(rows)


def test_refuses():
    with pytest.raises(ValueError, match="passages x questions"):
        required_subset([5, 0], 3)
    with pytest.raises(ValueError, match="variants are greedy_marginal"):
        required_subset([[5, 0]], 3, "smallest")
