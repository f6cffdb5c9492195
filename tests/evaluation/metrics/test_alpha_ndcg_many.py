import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.alpha_ndcg import alpha_ndcg, alpha_ndcg_many
from tests.evaluation.metrics.rankings import ALPHAS, topics


@given(st.lists(topics(), min_size=1, max_size=4), ALPHAS)
def test_many_are_the_same_as_one_by_one(topic_cases, alpha):
    depth, passages, questions = (
        max(len(ranked) for _, ranked, _ in topic_cases),
        max(len(pool) for pool, _, _ in topic_cases),
        max(pool.shape[1] for pool, _, _ in topic_cases),
    )
    pools = np.full((len(topic_cases), passages, questions), np.nan)
    rankings = np.full((len(topic_cases), depth, questions), np.nan)
    names = np.full((len(topic_cases), passages), "", dtype="U8")
    for topic, (pool, ranked, passage_names) in enumerate(topic_cases):
        pools[topic, : len(pool), : pool.shape[1]] = pool
        rankings[topic, : len(ranked), : ranked.shape[1]] = ranked
        names[topic, : len(passage_names)] = passage_names
    sizes = [len(ranked) for _, ranked, _ in topic_cases]
    vectorised = alpha_ndcg_many(rankings, pools, names, 3, alpha=alpha, cutoff=sizes)
    twice = alpha_ndcg_many([rankings, rankings], pools, names, 3, alpha=alpha, cutoff=5)
    for topic, (pool, ranked, passage_names) in enumerate(topic_cases):
        single = alpha_ndcg(ranked, pool, passage_names, 3, alpha=alpha)
        assert vectorised.n_answerable[topic] == single.n
        assert vectorised.dcg[topic] == single.dcg
        assert vectorised.ideal_dcg[topic] == single.ideal_dcg
        five = alpha_ndcg(ranked, pool, passage_names, 3, alpha=alpha, cutoff=5)
        for value, expected in (
            (vectorised.values[topic], single.value),
            (twice.values[0, topic], five.value),
            (twice.values[1, topic], five.value),
        ):
            assert np.isnan(value) if expected is None else value == expected


def material(topics=40, passages=30, questions=8, seed=5):
    generator = np.random.default_rng(seed)
    shape = (topics, passages, questions)
    pool = generator.choice([0.0, 2.0, 3.0, 5.0], p=[0.5, 0.2, 0.2, 0.1], size=shape)
    order = generator.permuted(np.tile(np.arange(passages), (topics, 1)), axis=1)
    names = np.array([[f"d{passage}" for passage in range(passages)]] * topics)
    return pool, order, names, np.take_along_axis(pool, order[:, :, np.newaxis], axis=1)


@pytest.mark.parametrize("cutoff", [1, 5, 20])
def test_against_pyndeval(cutoff):
    pyndeval = pytest.importorskip("pyndeval")
    pool, order, names, ranked = material()
    qrels = [
        (f"t{topic}", str(question), names[topic, passage], 1)
        for topic, passage, question in np.argwhere(pool >= 3).tolist()
    ]
    run = [
        (f"t{topic}", names[topic, passage], float(-rank))
        for topic, passages in enumerate(order)
        for rank, passage in enumerate(passages)
    ]
    theirs = pyndeval.ndeval(qrels, run, [f"alpha-nDCG@{cutoff}"])
    ours = alpha_ndcg_many(ranked, pool, names, 3, cutoff=cutoff).values
    for topic, value in enumerate(ours):
        assert value == pytest.approx(theirs[f"t{topic}"][f"alpha-nDCG@{cutoff}"], abs=1e-12)


def test_against_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pyndeval")
    pool, order, names, ranked = material(topics=10)
    qrels = [
        ir_measures.Qrel(
            query_id=f"t{topic}", doc_id=names[topic, passage], relevance=1, iteration=str(question)
        )
        for topic, passage, question in np.argwhere(pool >= 3).tolist()
    ]
    run = [
        ir_measures.ScoredDoc(f"t{topic}", names[topic, passage], float(-rank))
        for topic, passages in enumerate(order)
        for rank, passage in enumerate(passages)
    ]
    measure = ir_measures.alpha_nDCG @ 10
    theirs = {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels, run)
    }
    ours = alpha_ndcg_many(ranked, pool, names, 3, cutoff=10).values
    for topic, value in enumerate(ours):
        assert value == pytest.approx(theirs[f"t{topic}"], abs=1e-12)


def test_many_refuses():
    with pytest.raises(ValueError, match="topics x passages x questions"):
        alpha_ndcg_many([[5]], [[[5]]], [["p"]], 3)
    with pytest.raises(ValueError, match="topics x passages x questions"):
        alpha_ndcg_many([[[5]], [[5]]], [[[5]]], [["p"]], 3)
