"""Metrics of all contexts of a topic at once equal those of single contexts."""

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.data.cells import Scale
from evaluation.data.corpus import Question
from evaluation.data.sources import Source
from evaluation.metrics.alpha_ndcg import alpha_ndcg, alpha_ndcg_eq4
from evaluation.metrics.coverage import answerable_questions, coverage
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

TOPIC_PASSAGES, VISITORS = range(1, 6), range(11, 14)  # passages of the topic, and of others
QUESTIONS = 3
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


@st.composite
def topics(draw):
    """A pool, its rows (three runs and a report), and how long the texts are."""
    report = 21
    texts = [*TOPIC_PASSAGES, *VISITORS, report]
    table = np.array([[draw(grades) for _ in range(QUESTIONS)] for _ in texts])
    table[-1] = [draw(st.sampled_from([0.0, 1.0, math.nan])) for _ in range(QUESTIONS)]
    lengths = {pk: draw(st.integers(0, 3)) for pk in texts if draw(st.integers(0, 9))}
    relevant = [pk for pk in TOPIC_PASSAGES if draw(st.booleans())]
    of_relevant = table[[texts.index(pk) for pk in relevant]].reshape(-1, QUESTIONS)
    rules = RULES[draw(st.sampled_from(sorted(RULES)))]
    required = required_subset(of_relevant, 3, rules.subset).rows
    token_counts = [lengths.get(relevant[row]) for row in required]
    pool = Pool(
        topic=1,
        topic_name="ferry",
        questions=tuple(Question(pk, pk, False) for pk in range(QUESTIONS)),
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
        topic_texts=frozenset([*TOPIC_PASSAGES, report]),
    )
    rankings = st.permutations([*TOPIC_PASSAGES, *VISITORS]).flatmap(
        lambda order: st.integers(1, len(order)).map(lambda n: tuple(order[:n]))
    )
    rows = [Row(f"run-{n}", "", "run", {1: draw(rankings)}) for n in range(3)]
    rows.insert(1, Row("absent", "", "run", {}))
    rows.append(Row("reports/a", "", "reports", {1: (report,)}))
    options = Options(
        source=Source("judge", "rater", None),
        eta=3,
        cutoff=draw(st.sampled_from([ORACLE, None, 1, 4, 20])),
        ideal=draw(st.sampled_from(["standard", "paper_eq4"])),
        rules=rules,
    )
    return pool, rows, options, Lengths(lengths)


def score_alone(pool, row, options, lengths):
    """Coverage, ranked coverage and density of one context, by the metrics themselves."""
    limit = (len(pool.required) or None) if options.cutoff == ORACLE else options.cutoff
    texts = row.contexts[1][:limit] if row.kind == "run" else row.contexts[1]
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


@given(topics())
def test_all_contexts_at_once_score_what_each_scores_alone(topic):
    pool, rows, options, lengths = topic
    z = contexts_on(pool, rows, options)
    assert z.rows.tolist() == [0, 2, 3, 4]  # the one that ranks nothing for the topic is not there
    values = ranked_coverage([z], [z.answers], options)[0]
    scores = measure(z, values, lengths, options)
    for index, row in enumerate(z.rows.tolist()):
        covered, ranked, dense = score_alone(pool, rows[row], options, lengths)
        assert_same(scores.metrics["coverage"], index, covered)
        if rows[row].is_ranking:
            assert_same(scores.metrics["alpha_ndcg"], index, ranked)
        if dense is not None:
            assert_same(scores.metrics["density"], index, dense)


@given(topics())
def test_ndeval_reads_passages_of_other_topics_as_rated_0(topic):
    pool, rows, options, _ = topic
    z = contexts_on(pool, rows, options)
    answers, differ = as_ndeval_reads(z)
    for index, row in enumerate(z.rows.tolist()):
        texts = rows[row].contexts[1][: z.sizes[index]]
        for rank, pk in enumerate(texts):
            is_visitor = pk in VISITORS
            assert (
                answers[index, rank].tolist() == ((z.answers[index, rank]) & ~is_visitor).tolist()
            )
        gains = [
            pk
            for pk in texts
            if pk in VISITORS and (pool.context([pk]) >= 3)[:, z.answerable].any()
        ]
        assert bool(differ[index]) is bool(gains)
