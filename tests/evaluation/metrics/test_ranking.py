from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from evaluation.metrics.ranking import average_precision, ndcg, ranking_many, recall

NAN = np.nan
judgements = st.lists(st.sampled_from([0.0, 1.0, NAN]), max_size=12)


def test_recall_by_hand():
    # Of 4 relevant passages ranks 1 and 3 hold one each: 1/4 at rank 2, 2/4 at rank 3.
    assert recall([1, 0, 1, 0], 4, 2).value == 1 / 4
    assert recall([1, 0, 1, 0], 4, 3).value == 2 / 4
    assert recall([1, 0, 1, 0], 4, 3).n == 4


def test_average_precision_by_hand():
    # Precision 1/1 at rank 1 and 2/3 at rank 3; two relevant passages are not ranked at all:
    # (1 + 2/3 + 0 + 0)/4 = 5/12. Up to rank 2 the second is not found: 1/4.
    assert average_precision([1, 0, 1, 0], 4, 4).value == pytest.approx(5 / 12)
    assert average_precision([1, 0, 1, 0], 4, 2).value == pytest.approx(1 / 4)


def test_ndcg_by_hand():
    # Gains 1, 3, 2 against the best order 3, 2, 1, linear and not 2^g - 1:
    # (1 + 3/log2(3) + 2/2) / (3 + 2/log2(3) + 1/2).
    expected = (1 + 3 / log2(3) + 1) / (3 + 2 / log2(3) + 1 / 2)
    result = ndcg([1, 3, 2], [3, 2, 1, 0], 3)
    assert (result.value, result.n) == (pytest.approx(expected), 3)
    # At 1 the best is the 3: 1/3.
    assert ndcg([1, 3, 2], [3, 2, 1, 0], 1).value == pytest.approx(1 / 3)


def test_unjudged_passages_are_irrelevant_and_counted_up_to_the_cutoff():
    assert (recall([NAN, 1, NAN], 2, 2).value, recall([NAN, 1, NAN], 2, 2).missing) == (1 / 2, 1)
    assert average_precision([NAN, 1, NAN], 1, 3).value == 1 / 2
    assert ndcg([NAN, 1, NAN], [1], 3).value == pytest.approx(1 / log2(3))
    assert ndcg([NAN, 1, NAN], [1], 3).missing == 2


@pytest.mark.parametrize("seed", range(5))
def test_against_scikit_learn(seed):
    generator = np.random.default_rng(seed)
    gains = generator.integers(0, 4, size=30)
    scores = np.arange(30)[::-1]
    relevance = gains > 0
    expected = average_precision_score(relevance, scores)
    assert average_precision(relevance, int(relevance.sum()), 30).value == pytest.approx(expected)
    expected = ndcg_score([gains], [scores], k=10)
    assert ndcg(gains, gains, 10).value == pytest.approx(expected)


def test_against_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    relevance = {"d1": 2, "d3": 1, "d4": 0, "d9": 3}
    order = ["d4", "d1", "d7", "d3", "d2"]
    qrels = [ir_measures.Qrel("t", name, grade) for name, grade in relevance.items()]
    run = [ir_measures.ScoredDoc("t", name, -rank) for rank, name in enumerate(order)]
    measures = [ir_measures.R @ 3, ir_measures.AP @ 4, ir_measures.nDCG @ 4]
    theirs = ir_measures.calc_aggregate(measures, qrels, run)
    gains = np.array([relevance.get(name, NAN) for name in order])
    relevant = np.where(np.isnan(gains), NAN, gains > 0)
    assert recall(relevant, 3, 3).value == pytest.approx(theirs[measures[0]])
    assert average_precision(relevant, 3, 4).value == pytest.approx(theirs[measures[1]])
    grades = list(relevance.values())
    assert ndcg(gains, grades, 4).value == pytest.approx(theirs[measures[2]])


@given(judgements, st.integers(0, 4), st.integers(0, 15))
def test_irrelevant_passage_at_the_end_changes_nothing(ranking, more, k):
    total = ranking.count(1.0) + more
    for statistic in (recall, average_precision):
        before = statistic(ranking, total, k)
        assert statistic([*ranking, 0.0], total, k).value == before.value
        assert before.value is None or 0 <= before.value <= 1


def test_empty_rankings_are_zero():
    for k in (0, 5):
        assert recall([], 2, k).value == 0
        assert average_precision([], 2, k).value == 0
        assert ndcg([], [1, 0], k).value == 0


def test_topic_without_relevant_passage_is_undefined():
    for result in (
        recall([0, NAN], 0, 2),
        average_precision([0, NAN], 0, 2),
        ndcg([0, NAN], [], 2),
    ):
        assert result.value is None
        assert result.reason == "undefined, because there are no relevant passages"
        assert (result.n, result.missing) == (0, 1)


def test_refuses():
    with pytest.raises(ValueError, match="relevant \\(1\\), irrelevant \\(0\\)"):
        recall([2], 3, 1)
    with pytest.raises(ValueError, match="more than the 1 relevant"):
        average_precision([1, 1], 1, 1)
    with pytest.raises(ValueError, match="a ranking is a list"):
        recall([[1]], 1, 1)
    with pytest.raises(ValueError, match="whole number of passages"):
        recall([1], 1, -1)
    for gains, all_gains in (([-1], [1]), ([1], [-1]), ([1], [NAN]), ([1], [np.inf])):
        with pytest.raises(ValueError, match="finite numbers from 0"):
            ndcg(gains, all_gains, 1)


@given(
    st.lists(st.tuples(judgements, st.integers(0, 14), st.integers(0, 3)), min_size=1, max_size=6)
)
def test_many_rankings_at_once_have_the_values_of_each(rankings):
    width = max(len(ranking) for ranking, *_ in rankings)
    # What lies beyond the end of a ranking counts nothing, whatever it is.
    table = np.array([[*ranking, *[1.0] * (width - len(ranking))] for ranking, *_ in rankings])
    table = table.reshape(len(rankings), width)
    sizes, k = np.array([[len(ranking), depth] for ranking, depth, _ in rankings]).T
    n_relevant = [ranking.count(1.0) + more for ranking, _, more in rankings]
    vectorised = ranking_many(table, sizes, np.array(n_relevant), k)
    for index, ((ranking, depth, _), n) in enumerate(zip(rankings, n_relevant, strict=True)):
        single = {
            "recall": recall(ranking, n, depth),
            "average_precision": average_precision(ranking, n, depth),
            "ndcg": ndcg(ranking, np.ones(n), depth),
        }
        for name, estimate in single.items():
            value = getattr(vectorised, name)[index]
            expected = np.nan if estimate.value is None else estimate.value
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), name
            assert vectorised.missing[index] == estimate.missing, name
