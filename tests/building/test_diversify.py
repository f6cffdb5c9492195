"""MMR, xQuAD and sums of scores, each worked out by hand."""

import numpy as np
import pytest

from building.retrieval.diversify import mmr, xquad
from building.retrieval.fusion import reciprocal_rank, sum_of_scores
from building.retrieval.vectors import unit
from evaluation.metrics.fusion import min_max

A, B, C, D = 1, 2, 3, 4
RANKING = [(A, 3.0), (B, 2.0), (C, 1.0), (D, 1.0)]  # min-max: 1, 1/2, 0, 0
TWO_AND_TWO = np.array([[2, 0], [5, 0], [0, 1], [0, 3]])  # A like B, C like D


def order(scored):
    assert [score for _, score in scored] == [float(n) for n in range(len(scored), 0, -1)]
    return [text for text, _ in scored]


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        # A first with 1/2. Then B has 1/4 - 1/2, C and D 0: C came earlier. Then B -1/4, D -1/2.
        (0.5, [A, C, B, D]),
        (1.0, [A, B, C, D]),
        # All begin with 0: A. B -1, C and D 0: C. Then B and D -1 each: B.
        (0.0, [A, C, B, D]),
        # A with 0.9. B 0.45 - 0.1, C and D 0.
        (0.9, [A, B, C, D]),
    ],
)
def test_mmr_takes_what_is_relevant_and_unlike_the_taken(weight, expected):
    assert order(mmr(RANKING, TWO_AND_TWO, weight)) == expected


def test_mmr_of_vectors_that_point_away_are_zero_or_are_all_one():
    # A 1/2; then B 1/4 - 1/2, C 0 (no direction), D 0 + 1/2.
    assert order(mmr(RANKING, np.array([[1, 0], [1, 0], [0, 0], [-1, 0]]), 0.5)) == [A, D, C, B]
    assert order(mmr(RANKING, np.ones((4, 3)), 0.5)) == [A, B, C, D]
    assert order(mmr(RANKING, np.zeros((4, 3)), 0.0)) == [A, B, C, D]


def test_mmr_of_one_text_of_none_and_of_scores_that_are_all_zero():
    assert mmr([(A, 0.0)], np.ones((1, 2)), 0.5) == [(A, 1.0)]
    assert mmr([], np.zeros((0, 2)), 0.5) == []
    # All are equally relevant: A, then what is unlike it.
    assert order(mmr([(text, 0.0) for text in (A, B, C, D)], TWO_AND_TWO, 0.5)) == [A, C, B, D]


def test_lengths_of_vectors_do_not_count():
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [
        pytest.approx([0.6, 0.8]),
        [0, 0],
    ]


# p(text | question): the first 1, 1, 0, 0; the second 0, 0, 1, 1/5.
OF_QUESTIONS = [[(A, 2.0), (B, 2.0)], [(C, 5.0), (D, 1.0)]]
GRADED = [(A, 4.0), (B, 3.0), (C, 2.0), (D, 0.0)]  # min-max: 1, 3/4, 1/2, 0


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        # A 1/2 + 1/4, B 3/8 + 1/4, C 1/4 + 1/4, D 1/20: A. The first is answered: B 3/8, C 1/2: C. Then B, D.
        (0.5, [A, C, B, D]),
        (0.0, [A, B, C, D]),
        # A, B and C 1/2, D 1/10: A. B 0, C 1/2: C. Then B and D 0: B.
        (1.0, [A, C, B, D]),
        # A 0.9 + 0.05, then B 0.675 and C 0.45 + 0.05.
        (0.1, [A, B, C, D]),
    ],
)
def test_xquad_takes_what_answers_questions_that_are_open(weight, expected):
    assert order(xquad(GRADED, OF_QUESTIONS, weight)) == expected


def test_xquad_without_questions_or_answers_keeps_the_order():
    for of_questions in ([], [[]], [[(A, 0.0)], [(99, 7.0)]]):
        assert order(xquad(GRADED, of_questions, 0.7)) == [A, B, C, D]
    assert xquad([(A, 0.0)], [[(A, 1.0)]], 0.5) == [(A, 1.0)]
    assert xquad([], OF_QUESTIONS, 0.5) == []
    equal = [(text, 1.0) for text in (A, B, C, D)]
    # Equal scores: 1 each. A, B and C 1/2 + 1/4: A; then C, B, D.
    assert order(xquad(equal, OF_QUESTIONS, 0.5)) == [A, C, B, D]


def test_scores_are_brought_to_one_scale():
    assert min_max(RANKING).tolist() == [1, 0.5, 0, 0]
    assert min_max([(A, 0.0), (B, 0.0)]).tolist() == [1, 1]
    assert min_max([(A, 7.0)]).tolist() == [1]
    assert min_max([]).tolist() == []
    assert min_max([(A, 0.2), (B, -0.2)]).tolist() == [1, 0]


def test_sums_of_scores():
    second = [(C, 0.9), (B, 0.5), (D, 0.1)]  # 1, 1/2, 0
    # A 1, B 1/2 + 1/2, C 0 + 1, D 0: equal sums as they were met.
    assert sum_of_scores([RANKING, second]) == [(A, 1.0), (B, 1.0), (C, 1.0), (D, 0.0)]
    # Twice the second: A 1, B 1.5, C 2.
    assert sum_of_scores([RANKING, second], [1, 2]) == [(C, 2.0), (B, 1.5), (A, 1.0), (D, 0.0)]
    assert sum_of_scores([[], [(A, 0.0)]]) == [(A, 1.0)]
    assert sum_of_scores([[], []]) == []


def test_ranks_have_weights():
    # A 1/61, B 3/61: the second counts three times.
    fused = reciprocal_rank([[(A, 1.0)], [(B, 1.0)]], 60, [1, 3])
    assert fused == [(B, pytest.approx(3 / 61)), (A, pytest.approx(1 / 61))]
