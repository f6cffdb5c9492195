"""Metrics of all contexts of several topics at once equal those of single contexts."""

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.data.cells import Scale
from evaluation.data.corpus import Question
from evaluation.data.sources import Source
from evaluation.metrics.alpha_ndcg import alpha_ndcg, alpha_ndcg_eq4
from evaluation.metrics.coverage import Coverage, answerable_questions, coverage
from evaluation.metrics.density import density
from evaluation.metrics.required_subset import required_subset
from evaluation.scoring.contexts import contexts_on
from evaluation.scoring.options import ORACLE, Options
from evaluation.scoring.pools import PassageRow, Pool
from evaluation.scoring.rows import Row
from evaluation.scoring.rules import RULES
from evaluation.scoring.topic_metrics import (
    NOTHING_RATED,
    as_ndeval_reads,
    measure,
    ranked_coverage,
)
from evaluation.stats.estimate import Estimate

TOPIC_PASSAGES, VISITORS = range(1, 6), range(11, 14)  # passages of a topic, and of others
REPORT = 21
SCALES = {
    "passage": Scale("graded", 3, (0, 1, 2, 3, 4, 5)),
    "report": Scale("answerable", 1, (0, 1)),
}
grades = st.sampled_from([0.0, 1.0, 3.0, 5.0, math.nan])


@dataclass(frozen=True)
class Lengths:
    """The tokens of texts; those without words have none."""

    of: dict[int, int]

    def count_of(self, text):
        return float(self.of.get(text, math.nan))

    def lacks_body(self, text):
        return text not in self.of


def draw_pool(draw, topic, rules, lengths):
    texts = [*TOPIC_PASSAGES, *VISITORS, REPORT]
    n_questions = draw(st.integers(2, 4))
    table = np.array([[draw(grades) for _ in range(n_questions)] for _ in texts])
    table[-1] = [draw(st.sampled_from([0.0, 1.0, math.nan])) for _ in range(n_questions)]
    relevant = [pk for pk in TOPIC_PASSAGES if draw(st.booleans())]
    of_relevant = table[[texts.index(pk) for pk in relevant]].reshape(-1, n_questions)
    required = required_subset(of_relevant, 3, rules.subset).rows
    token_counts = [lengths.get(relevant[row]) for row in required]
    return Pool(
        topic=topic,
        topic_name=f"ferry-{topic}",
        questions=tuple(Question(pk, pk, False) for pk in range(n_questions)),
        passages=tuple(PassageRow(pk, f"ferry:{pk}", lengths.get(pk), True) for pk in relevant),
        grades=of_relevant,
        by_people=np.zeros(of_relevant.shape, dtype=bool),
        eta=3,
        answerable=answerable_questions(of_relevant, 3),
        required=required,
        required_tokens=None if None in token_counts else sum(token_counts),
        takes_all_rated=False,
        scales=SCALES,
        rated_texts=np.array(texts),
        rated_grades=table,
        visitors_are_zero=rules.visitors_are_zero,
        topic_texts=frozenset([*TOPIC_PASSAGES, REPORT]),
    )


@st.composite
def studies(draw):
    """Pools of one to three topics, three runs and a report on them, and lengths of texts."""
    rules = RULES[draw(st.sampled_from(sorted(RULES)))]
    texts = [*TOPIC_PASSAGES, *VISITORS, REPORT]
    lengths = {pk: draw(st.integers(0, 3)) for pk in texts if draw(st.integers(0, 9))}
    topics = range(1, draw(st.integers(1, 3)) + 1)
    pools = [draw_pool(draw, topic, rules, lengths) for topic in topics]
    rankings = st.permutations([*TOPIC_PASSAGES, *VISITORS]).flatmap(
        lambda order: st.integers(1, len(order)).map(lambda n: tuple(order[:n]))
    )
    rows = [
        Row(
            f"run-{n}",
            "",
            "run",
            {topic: draw(rankings) for topic in topics if not n or draw(st.booleans())},
        )
        for n in range(3)
    ]
    rows.insert(1, Row("absent", "", "run", {}))
    rows.append(Row("reports/a", "", "reports", {topics[-1]: (REPORT,)}))
    options = Options(
        source=Source("judge", "rater", None),
        eta=3,
        cutoff=draw(st.sampled_from([ORACLE, None, 1, 4, 20])),
        ideal=draw(st.sampled_from(["standard", "paper_eq4"])),
        rules=rules,
    )
    return pools, rows, options, Lengths(lengths)


def score_alone(pool, row, options, lengths):
    """Coverage, ranked coverage and density of one context, by the metrics themselves."""
    limit = (len(pool.required) or None) if options.cutoff == ORACLE else options.cutoff
    texts = row.contexts[pool.topic][:limit] if row.kind == "run" else row.contexts[pool.topic]
    depth = len(texts) if limit is None or options.rules.stops_at_size else limit
    z, eta = pool.context(texts), pool.scales[row.text_kind].eta
    covered = coverage(z, pool.answerable, eta)
    cells = np.isnan(z[:, list(pool.answerable)])
    ranked = (
        alpha_ndcg(z, pool.grades, [p.name for p in pool.passages], 3, cutoff=depth)
        if options.ideal == "standard"
        else alpha_ndcg_eq4(z, pool.grades[list(pool.required)], pool.answerable, 3)
    )
    tokens = [lengths.of.get(pk) for pk in texts]
    dense = None
    if None not in tokens and pool.required_tokens is not None and pool.answerable:
        dense = density(
            len(covered.covered), sum(tokens), len(pool.answerable), pool.required_tokens
        )
    if cells.size and cells.all() and not (options.rules.unrated_is_nothing and row.is_ranking):
        nothing = Estimate(None, NOTHING_RATED, covered.n, covered.missing)
        return nothing, nothing, nothing
    return covered, ranked, dense


def assert_same(metric, index, estimate):
    value = metric.values[index]
    assert math.isnan(value) if estimate.value is None else math.isclose(value, estimate.value)
    assert metric.reasons[index] == (estimate.reason or "")
    assert (metric.n[index], metric.missing[index]) == (estimate.n, estimate.missing)


@given(studies())
def test_all_contexts_at_once_score_what_each_scores_alone(study):
    pools, rows, options, lengths = study
    z = contexts_on(pools, rows, options)
    expected = [
        (topic, row)
        for topic, pool in enumerate(pools)
        for row in range(len(rows))
        if pool.topic in rows[row].contexts  # a run that ranks nothing for the topic is not there
    ]
    assert [*zip(z.topics.tolist(), z.rows.tolist(), strict=True)] == expected
    values = ranked_coverage(z, z.answers, options)
    scores = measure(z, values, lengths, options)
    for index, (topic, row) in enumerate(expected):
        covered, ranked, dense = score_alone(pools[topic], rows[row], options, lengths)
        assert_same(scores.metrics["coverage"], index, covered)
        if rows[row].is_ranking:
            assert_same(scores.metrics["alpha_ndcg"], index, ranked)
        if dense is not None:
            assert_same(scores.metrics["density"], index, dense)
        if isinstance(covered, Coverage):
            assert np.flatnonzero(scores.covered[index]).tolist() == list(covered.covered)


@given(studies())
def test_ndeval_reads_passages_of_other_topics_as_rated_0(study):
    pools, rows, options, _ = study
    z = contexts_on(pools, rows, options)
    answers, differ = as_ndeval_reads(z)
    for index, (topic, row) in enumerate(zip(z.topics.tolist(), z.rows.tolist(), strict=True)):
        pool = pools[topic]
        texts = rows[row].contexts[pool.topic][: z.sizes[index]]
        for rank, pk in enumerate(texts):
            is_visitor = pk in VISITORS
            assert (
                answers[index, rank].tolist() == ((z.answers[index, rank]) & ~is_visitor).tolist()
            )
        gains = [
            pk
            for pk in texts
            if pk in VISITORS and (pool.context([pk]) >= 3)[:, list(pool.answerable)].any()
        ]
        assert bool(differ[index]) is bool(gains)
