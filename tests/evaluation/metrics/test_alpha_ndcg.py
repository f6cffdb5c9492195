from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.alpha_ndcg import alpha_ndcg, alpha_ndcg_eq4
from evaluation.metrics.required_subset import required_subset
from tests.evaluation.metrics.rankings import ALPHAS, topics

# Answered at eta 3: A = {1,2,3}, B = {0}, C = {1,2,3}, D = {0,1,2}.
NAMES = ["a", "b", "c", "d"]
POOL = np.array([[0, 5, 5, 5], [5, 0, 0, 0], [0, 5, 5, 5], [5, 5, 5, 0]], dtype=float)


def by_definition(ranked, pool, names, eta, alpha, cutoff):
    """The standard reading in plain loops: value, and the names of the ideal ranking."""
    questions = [q for q in range(pool.shape[1]) if any(row[q] >= eta for row in pool)]

    def gain(row, n_answered):
        return sum((1 - alpha) ** n_answered[q] for q in questions if row[q] >= eta)

    def dcg(rows):
        n_answered, total = dict.fromkeys(questions, 0), 0.0
        for rank, row in enumerate(rows, start=1):
            total += gain(row, n_answered) / log2(rank + 1)
            for q in questions:
                n_answered[q] += row[q] >= eta
        return total

    ideal, n_ranked = [], dict.fromkeys(questions, 0)
    remaining = {name: row for name, row in zip(names, pool, strict=True) if (row >= eta).any()}
    while remaining and len(ideal) < cutoff:
        name = max(remaining, key=lambda name: (gain(remaining[name], n_ranked), name))
        for q in questions:
            n_ranked[q] += remaining[name][q] >= eta
        ideal.append((name, remaining.pop(name)))
    if not ideal:
        return None, []
    return dcg(ranked[:cutoff]) / dcg([row for _, row in ideal]), [name for name, _ in ideal]


def test_by_hand():
    # Ranking A, D, alpha 1/2: A gains 3; D gains 1 for question 0 and 1/2 each for 1 and 2: 2.
    # DCG = 3 + 2/log2(3). The ideal begins with a passage of three questions, of A, C, D the one
    # with the greatest name, D, which gains 3. Then A and C gain 1/2 + 1/2 + 1 = 2, and C is the
    # greater. Its DCG is 3 + 2/log2(3) too.
    result = alpha_ndcg(POOL[[0, 3]], POOL, NAMES, 3)
    assert result.gains == (3, 2)
    assert result.ideal_order == (3, 2)
    assert result.ideal_gains == (3, 2)
    assert result.dcg == result.ideal_dcg == pytest.approx(3 + 2 / log2(3))
    assert (result.value, result.n, result.missing) == (pytest.approx(1), 4, 0)


def test_eq4_by_hand_exceeds_one():
    # Z* = A, B: A gains 3, B gains 1 for question 0. The ranking A, D gains 3 and then 2, because
    # D repeats two questions at half their worth: (3 + 2/log2(3)) / (3 + 1/log2(3)) = 1.1738.
    result = alpha_ndcg_eq4(POOL[[0, 3]], POOL[[0, 1]], [0, 1, 2, 3], 3)
    assert result.value == pytest.approx((3 + 2 / log2(3)) / (3 + 1 / log2(3)))
    assert result.value > 1
    assert (result.gains, result.ideal_gains, result.ideal_order) == ((3, 2), (3, 1), (0, 1))


def test_standard_reading_may_exceed_one_by_hand():
    # D = {0,3,4}, E = {1,2,4}, F = {0,2,4}. Greatest name first: F (3), then D = 1/2 + 1 + 1/2 = 2
    # and E = 1 + 1/2 + 1/2 = 2, and E is the greater: 3 + 2/log2(3). The ranking D, E gains 3 and
    # then 1 + 1 + 1/2: it beats the greedy ideal.
    pool = [[5, 0, 0, 5, 5], [0, 5, 5, 0, 5], [5, 0, 5, 0, 5]]
    result = alpha_ndcg(pool[:2], pool, ["d", "e", "f"], 3)
    assert result.ideal_order == (2, 1)
    assert result.value == pytest.approx((3 + 2.5 / log2(3)) / (3 + 2 / log2(3)))
    assert result.value > 1


def test_names_are_compared_by_code_point():
    # "p10" < "p9" and "Z" < "a": of two equal passages the ideal takes p9, and a before Z.
    pool = [[5], [5]]
    for names, first in ((["p10", "p9"], 1), (["a", "Z"], 0)):
        assert alpha_ndcg([[5]], pool, names, 3).ideal_order == (first,)


def test_equal_gains_that_round_differently_are_ties():
    # At alpha 0.7, after H has been taken (question 0 to 5), B gains for 0, 1, 2 what A gains for
    # 3, 4, 5, whatever the order of the sum of 0.3 + 0.3 + 0.3; so the name decides: B.
    hits = [[1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    result = alpha_ndcg(hits[:1], hits, ["h", "a", "b"], 1, alpha=0.7, cutoff=3)
    assert result.ideal_order == (0, 2, 1)


def test_alpha_zero_and_one_by_hand():
    # alpha 0 repeats at full worth: A, C gain 3 and 3. alpha 1 counts the first answer alone
    # (0^0 = 1): C gains 0, and B then 1.
    assert alpha_ndcg(POOL[[0, 2]], POOL, NAMES, 3, alpha=0).gains == (3, 3)
    assert alpha_ndcg(POOL[[0, 2, 1]], POOL, NAMES, 3, alpha=1).gains == (3, 0, 1)


def test_questions_that_no_pool_passage_answers_never_count():
    # The ranked passage answers both questions, the pool only the first.
    result = alpha_ndcg([[5, 5]], [[5, 0]], ["p"], 3)
    assert (result.value, result.n, result.answerable) == (1, 1, (0,))


def test_shorter_ranking_is_held_against_the_ideal_at_the_cutoff():
    # One passage against an ideal of two that gain 1 each: 1 / (1 + 1/log2(3)).
    result = alpha_ndcg([[5, 0]], [[5, 0], [0, 5]], ["a", "b"], 3, cutoff=2)
    assert result.value == pytest.approx(1 / (1 + 1 / log2(3)))
    assert alpha_ndcg([[5, 0]], [[5, 0], [0, 5]], ["a", "b"], 3).value == 1


def test_unrated_cells_gain_nothing_and_are_counted_up_to_the_cutoff():
    nan = np.nan
    result = alpha_ndcg([[nan, 5], [nan, nan]], [[5, 5]], ["p"], 3, cutoff=1)
    assert (result.value, result.n, result.missing) == (pytest.approx(1 / 2), 2, 1)


def test_ranking_without_answerable_question_is_undefined():
    result = alpha_ndcg([[5, 5]], [[0, 2]], ["p"], 3)
    assert result.value is None
    assert result.reason == "undefined, because there are no answerable questions"
    assert alpha_ndcg([[5]], np.empty((0, 1)), [], 3).value is None
    assert alpha_ndcg_eq4([[5, 5]], [[5, 5]], [], 3).reason == result.reason


def test_eq4_without_an_answer_in_z_star_is_undefined():
    reason = "undefined, because the oracle context answers no answerable question"
    assert alpha_ndcg_eq4([[5, 5]], [[0, 2]], [0], 3).reason == reason
    assert alpha_ndcg_eq4(np.empty((0, 1)), np.empty((0, 1)), [0], 3).reason == reason


def test_empty_ranking_is_zero():
    empty = np.empty((0, 4))
    assert alpha_ndcg(empty, POOL, NAMES, 3).value == 0
    assert alpha_ndcg(empty, POOL, NAMES, 3, cutoff=10).value == 0
    assert alpha_ndcg_eq4(empty, POOL[:1], [1], 3).value == 0


@given(topics(), st.integers(1, 5), ALPHAS, st.integers(0, 10))
def test_against_the_definition(topic, eta, alpha, cutoff):
    pool, ranked, names = topic
    result = alpha_ndcg(ranked, pool, names, eta, alpha=alpha, cutoff=cutoff)
    value, ideal = by_definition(ranked, pool, names, eta, alpha, max(cutoff, 1))
    assert [names[row] for row in result.ideal_order] == ideal
    if value is None or cutoff == 0:
        assert result.value == (None if value is None else 0)
    else:
        assert result.value == pytest.approx(value, abs=1e-12)


@given(topics(), st.integers(1, 5), ALPHAS)
def test_irrelevant_passage_at_the_end_does_not_raise_it(topic, eta, alpha):
    pool, ranked, names = topic
    longer = np.vstack([ranked, np.zeros((1, ranked.shape[1]))])
    for cutoff in (None, 5):
        before = alpha_ndcg(ranked, pool, names, eta, alpha=alpha, cutoff=cutoff).value
        extended = alpha_ndcg(longer, pool, names, eta, alpha=alpha, cutoff=cutoff).value
        assert (before is None) == (extended is None)
        assert before is None or extended <= before + 1e-12


@given(topics(), st.integers(1, 5), st.sampled_from([0.5, 0.7, 0.9]), st.randoms())
def test_order_of_the_questions_changes_nothing(topic, eta, alpha, random):
    pool, ranked, names = topic
    order = list(range(pool.shape[1]))
    random.shuffle(order)
    estimate = alpha_ndcg(ranked, pool, names, eta, alpha=alpha)
    reordered = alpha_ndcg(ranked[:, order], pool[:, order], names, eta, alpha=alpha)
    assert estimate.ideal_order == reordered.ideal_order
    assert (estimate.value is None) == (reordered.value is None)
    assert estimate.value is None or estimate.value == pytest.approx(reordered.value)


@given(topics(), st.integers(1, 5))
def test_oracle_context_against_itself_is_one(topic, eta):
    pool, _, names = topic
    z_star = pool[list(required_subset(pool, eta).rows)]
    answerable = alpha_ndcg(z_star, pool, names, eta).answerable
    result = alpha_ndcg_eq4(z_star, z_star, answerable, eta)
    assert result.value == (1 if answerable else None)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_whole_ranking_of_a_large_pool_against_the_definition(share):
    generator = np.random.default_rng(3)
    pool = np.where(generator.random((60, 6)) < share, 5.0, 0.0)
    ranked, names = generator.permutation(pool), [f"p{number}" for number in range(60)]
    result = alpha_ndcg(ranked, pool, names, 3)
    value, ideal = by_definition(ranked, pool, names, 3, 0.5, 60)
    assert [names[row] for row in result.ideal_order] == ideal
    assert result.value == pytest.approx(value, abs=1e-12)


def test_refuses():
    with pytest.raises(ValueError, match="the same questions"):
        alpha_ndcg([[5, 5]], [[5]], ["p"], 3)
    with pytest.raises(ValueError, match="every passage has a name"):
        alpha_ndcg([[5]], [[5], [5]], ["p"], 3)
    with pytest.raises(ValueError, match="different names"):
        alpha_ndcg([[5]], [[5], [5]], ["p", "p"], 3)
    for alpha in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="alpha is between"):
            alpha_ndcg([[5]], [[5]], ["p"], 3, alpha=alpha)
    for cutoff in (-1, 2.5):
        with pytest.raises(ValueError, match="a cut-off is a whole number"):
            alpha_ndcg([[5]], [[5]], ["p"], 3, cutoff=cutoff)


def test_eq4_refuses():
    with pytest.raises(ValueError, match="the same questions"):
        alpha_ndcg_eq4([[5, 5]], [[5]], [0], 3)
    for answerable in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match="distinct and below 2"):
            alpha_ndcg_eq4([[5, 5]], [[5, 5]], answerable, 3)
