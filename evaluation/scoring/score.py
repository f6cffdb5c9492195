"""Scores: every metric of every row, by topic and on average, each with its reason if undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from annotation.models import Dataset
from evaluation.data.cache import cached
from evaluation.data.corpus import load_corpus
from evaluation.data.selection import one_of
from evaluation.metrics.coverage import coverage
from evaluation.metrics.density import density
from evaluation.metrics.grades import NO_ANSWERABLE
from evaluation.metrics.ranking import average_precision, ndcg, recall
from evaluation.scoring.contexts import Context, as_ndeval_reads, contexts_of, ranked_coverage
from evaluation.scoring.options import SIZE, Options
from evaluation.scoring.pools import Pool, load_pools
from evaluation.scoring.rows import Row, left_out, rows
from evaluation.scoring.rules import Rules
from evaluation.scoring.tokens import TokenCounts
from evaluation.stats.estimate import Estimate, FloatArray

METRICS = ("coverage", "alpha_ndcg", "density", "recall", "average_precision", "ndcg")
NO_RANKING = Estimate(None, "undefined, because it is one text and not a ranking of passages", 0)
NOTHING_RATED = "undefined, because none of it is rated"


@dataclass(frozen=True, slots=True)
class TopicScore:
    """What one context Z scores on one topic.

    `texts` are the keys of Z after the cut-off. `n_unrated` counts those of its texts with an
    unrated cell among the answerable questions, `n_unrated_cells` these cells: a grade there could
    raise the values. `tokens` is None if the words of a text are not there and nothing stands in
    for them; `n_without_words` counts such texts. `required_subset` has the names of Z*,
    `required_tokens` its length. `alpha_ndcg_ndeval` is what ndeval has, given judgements of P*:
    passages of other topics gain nothing. None where it is the same.
    """

    coverage: Estimate
    alpha_ndcg: Estimate
    density: Estimate
    recall: Estimate
    average_precision: Estimate
    ndcg: Estimate
    texts: tuple[int, ...]
    covered: tuple[int, ...]
    """The answerable questions that Z covers, as columns of the pool."""
    n_answerable: int
    n_unrated: int
    n_unrated_cells: int
    n_without_words: int
    tokens: int | None
    required_subset: tuple[str, ...]
    required_tokens: int | None
    alpha_ndcg_ndeval: float | None = None

    @property
    def n_passages(self) -> int:
        """The texts of Z."""
        return len(self.texts)

    @property
    def n_covered(self) -> int:
        return len(self.covered)

    def metric(self, name: str) -> Estimate:
        estimate = getattr(self, name)
        assert isinstance(estimate, Estimate)
        return estimate


@dataclass(frozen=True)
class RowScore:
    """The scores of one row; `topics` by name, in the order of the dataset, those it has alone.

    `means` are over the topics where the metric is defined, `n` of them; `missing` counts its
    other topics. Their interval is a t interval over topics.
    """

    row: Row
    topics: Mapping[str, TopicScore]
    means: Mapping[str, Estimate]
    topic_names: tuple[str, ...]
    """All topics of the dataset: the order of `values`."""

    def values(self, metric: str) -> FloatArray:
        """The metric on every topic of the dataset, NaN where undefined or not one of its topics."""
        scores = (self.topics.get(name) for name in self.topic_names)
        values = (score.metric(metric).value if score else None for score in scores)
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    @property
    def alpha_ndcg_ndeval(self) -> float | None:
        """The mean of what ndeval has, over the same topics; None where it is the same on all."""
        known = [
            topic_score
            for topic_score in self.topics.values()
            if topic_score.alpha_ndcg.value is not None
        ]
        if all(topic_score.alpha_ndcg_ndeval is None for topic_score in known):
            return None
        pairs = (
            (topic_score.alpha_ndcg_ndeval, topic_score.alpha_ndcg.value) for topic_score in known
        )
        values = [ours if theirs is None else theirs for theirs, ours in pairs]
        return float(np.mean([value for value in values if value is not None]))

    @property
    def sizes(self) -> FloatArray:
        """|Z| on every topic of the dataset, NaN where it is not one of its topics."""
        scores = (self.topics.get(name) for name in self.topic_names)
        return np.array([score.n_passages if score else np.nan for score in scores], np.float64)


@dataclass(frozen=True)
class Scores:
    """The scores of a dataset under one set of options."""

    options: Options
    pools: Mapping[int, Pool]
    rows: tuple[RowScore, ...]
    notes: tuple[str, ...]
    """What is left out, in sentences."""

    @cached_property
    def by_name(self) -> dict[str, RowScore]:
        return {row_score.row.name: row_score for row_score in self.rows}

    @property
    def topic_names(self) -> tuple[str, ...]:
        """All topics, in the order of the dataset and of `RowScore.values`."""
        return tuple(pool.topic_name for pool in self.pools.values())


def score(dataset: Dataset, options: Options, names: Sequence[str] | None = None) -> Scores:
    """Coverage, ranked coverage, density, recall, MAP and nDCG of every row, or of those named.

    Z is a row's context, cut off as the options say; see `evaluation.metrics` for the measures and
    `pools.load_pools` for P* and Z*. What is undefined:

    - coverage, ranked coverage and density, where no passage of P* answers a question, or where Z
      has texts and none of their cells of answerable questions is rated (under the authors' rules
      such a context answers nothing);
    - density, where the words of a text of Z or Z* are not there (under the authors' rules it
      counts as a mean passage), or Z has no tokens;
    - the measures of a ranking, for reports and references. Relevant to recall, MAP and nDCG is, as
      in the paper, every passage of P* with a gain of 1, and no other; a passage of the topic that
      is not rated is not judged.

    A fixed number of queries, but for the words of texts, which are read by the thousand. Raises
    SelectionError, which lists the rows, for a name that is not one.
    """
    corpus = load_corpus(dataset)
    counts = TokenCounts(corpus, options.tokenizer, options.rules.mean_stands_in)
    pools = load_pools(dataset, options, corpus=corpus, counts=counts)
    every = rows(dataset, pools)
    chosen = every
    if names is not None:
        for name in names:
            one_of("run, system or bound", name, (row.name for row in every))
        chosen = tuple(row for row in every if row.name in names)
    contexts = [contexts_of(row, pools, options) for row in chosen]
    counts.of(pk for row in contexts for z in row.values() for pk in z.texts)  # all at once
    rankings = [z if row.is_ranking else {} for row, z in zip(chosen, contexts, strict=True)]
    ranked = ranked_coverage(pools, rankings, options)
    unlike = as_ndeval_reads(pools, rankings) if options.ideal == "standard" else []
    by_ndeval = ranked_coverage(pools, unlike, options) or [{} for _ in chosen]
    topic_names = tuple(pool.topic_name for pool in pools.values())
    row_scores = []
    for row, zs, alpha_ndcgs, ndevals in zip(chosen, contexts, ranked, by_ndeval, strict=True):
        topics = {
            pools[topic].topic_name: _topic_score(
                row, pools[topic], z, alpha_ndcgs.get(topic), counts, options.rules
            )
            for topic, z in zs.items()
        }
        for topic, theirs in ndevals.items():
            name = pools[topic].topic_name
            topics[name] = replace(topics[name], alpha_ndcg_ndeval=theirs.value)
        means = {
            metric: mean_over_topics(
                [topic_score.metric(metric) for topic_score in topics.values()]
            )
            for metric in METRICS
        }
        row_scores.append(RowScore(row, topics, means, topic_names))
    notes = left_out(every)
    if options.questions:
        notes = (*notes, f"Of the questions only those count that are {options.questions.title}.")
    return Scores(options, pools, tuple(row_scores), notes)


def cached_scores(dataset: Dataset, options: Options) -> Scores:
    """`score` of every row, kept until the data change."""
    return cached(dataset, ("scores", options), lambda: score(dataset, options))


def _topic_score(
    row: Row,
    pool: Pool,
    z: Context,
    alpha_ndcg: Estimate | None,
    counts: TokenCounts,
    rules: Rules,
) -> TopicScore:
    covers = coverage(z.grades, pool.answerable, z.eta)
    cells = np.isnan(z.grades[:, list(pool.answerable)])
    total = counts.total(z.texts)
    n_without_words = counts.n_without_words(z.texts)
    estimate: Estimate = covers
    dense = _density(pool, len(covers.covered), total, n_without_words, len(z.texts))
    # Only of passages: a report that nobody rated has no value under any rules.
    is_nothing = rules.unrated_is_nothing and row.is_ranking
    if cells.size and cells.all() and not is_nothing:
        estimate = dense = Estimate(None, NOTHING_RATED, covers.n, covers.missing)
        alpha_ndcg = alpha_ndcg and estimate
    ranking = _ranking(pool, z) if row.is_ranking else (NO_RANKING,) * 3
    return TopicScore(
        coverage=estimate,
        alpha_ndcg=alpha_ndcg or NO_RANKING,
        density=dense,
        recall=ranking[0],
        average_precision=ranking[1],
        ndcg=ranking[2],
        texts=z.texts,
        covered=covers.covered,
        n_answerable=len(pool.answerable),
        n_unrated=int(cells.any(axis=1).sum()),
        n_unrated_cells=int(cells.sum()),
        n_without_words=n_without_words,
        tokens=total,
        required_subset=pool.required_names,
        required_tokens=pool.required_tokens,
    )


def _density(
    pool: Pool, n_covered: int, tokens: int | None, n_without_words: int, size: int
) -> Estimate:
    if not pool.answerable:
        return Estimate(None, NO_ANSWERABLE, tokens or 0)
    if tokens is None:
        reason = (
            f"undefined, because the words of {n_without_words} of its {size} texts are not there"
        )
        return Estimate(None, reason, 0, n_without_words)
    if pool.required_tokens is None:
        reason = "undefined, because words of the required subset are not there"
        return Estimate(None, reason, tokens)
    # Z* covers every answerable question.
    return density(n_covered, tokens, len(pool.answerable), pool.required_tokens)


def _ranking(pool: Pool, z: Context) -> tuple[Estimate, Estimate, Estimate]:
    """Recall, average precision and nDCG: the passages of P* are relevant."""
    relevance = [pool.relevance(pk) for pk in z.texts]
    n = len(pool.passages)
    return (
        recall(relevance, n, z.depth),
        average_precision(relevance, n, z.depth),
        ndcg(relevance, np.ones(n), z.depth),
    )


def mean_over_topics(estimates: Sequence[Estimate], level: float = 0.95) -> Estimate:
    """The mean over the topics where the metric is defined, with a t interval over topics.

    `n` counts these topics, `missing` the others. The interval is mean +- t(n - 1) x sd / sqrt(n),
    sd with n - 1, not clamped; there is none with fewer than two defined topics. None defined:
    undefined, for the topics' reason where it is one and the same, else with the first of them.
    """
    values = np.array([estimate.value for estimate in estimates if estimate.value is not None])
    n, missing = len(values), len(estimates) - len(values)
    if not n:
        return Estimate(
            None, _why([estimate.reason for estimate in estimates if estimate.reason]), 0, missing
        )
    mean = float(values.mean())
    if n < 2:
        why = "no interval, because there are fewer than two topics"
        return Estimate(mean, None, n, missing, interval_reason=why)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, None, n, missing, low=mean - reach, high=mean + reach)


def _why(reasons: Sequence[str]) -> str:
    if len(set(reasons)) == 1:
        return reasons[0]
    if not reasons:
        return "undefined, because it has no topic"
    first = reasons[0].removeprefix("undefined, because ")
    return f"undefined, because no topic has a value; on the first of them {first}"


def as_json(scores: Scores, row_score: RowScore) -> dict[str, Any]:
    """The scores of one row, and what they were computed with.

    An undefined value is null; a topic's `reasons` say why, by metric, as a mean's `reason` does.
    What ndeval has for alpha-nDCG is null where it is the same.
    `n_unrated` counts texts of the context, `n_unrated_cells` their pairs with a question.
    """
    options = scores.options
    return {
        "run": row_score.row.name,
        "kind": row_score.row.kind,
        "judge": options.source.name,
        "eta": options.eta,
        "cutoff": SIZE if options.cutoff is None else options.cutoff,
        "ideal": options.ideal,
        "rules": options.rules.name,
        "questions": options.params()["questions"],
        "tokenizer": options.tokenizer.name,
        "topics": {name: _topic(score) for name, score in row_score.topics.items()},
        "mean": {metric: _mean(row_score.means[metric]) for metric in METRICS},
        "mean_alpha_ndcg_ndeval": row_score.alpha_ndcg_ndeval,
    }


def _topic(score: TopicScore) -> dict[str, Any]:
    values = {metric: score.metric(metric) for metric in METRICS}
    return {
        "n_passages": score.n_passages,
        "n_answerable": score.n_answerable,
        "n_covered": score.n_covered,
        "n_unrated": score.n_unrated,
        "n_unrated_cells": score.n_unrated_cells,
        "n_without_words": score.n_without_words,
        **{metric: value.value for metric, value in values.items()},
        "alpha_ndcg_ndeval": score.alpha_ndcg_ndeval,
        "tokens": score.tokens,
        "required_tokens": score.required_tokens,
        "required_subset": list(score.required_subset),
        "reasons": {metric: value.reason for metric, value in values.items() if value.reason},
    }


def _mean(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "n": estimate.n,
        "missing": estimate.missing,
        "ci95": None if estimate.low is None else [estimate.low, estimate.high],
        "reason": estimate.reason or estimate.interval_reason,
    }
