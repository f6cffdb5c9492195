"""Scores of all rows by all metrics, by topic and on average, with reasons if undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from annotation.models import Dataset
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.corpus import load_corpus
from evaluation.data.process_cache import ALL_SCORES, POOLS
from evaluation.data.selection import one_of
from evaluation.scoring.contexts import contexts_on, limit_of, texts_of
from evaluation.scoring.options import OF_RUNS, SIZE, Options
from evaluation.scoring.pools import Pool, load_pools
from evaluation.scoring.row_score import METRICS, RowScore, TopicScore
from evaluation.scoring.rows import Row, left_out, rows
from evaluation.scoring.same_topics import identical_rankings
from evaluation.scoring.table import Table
from evaluation.scoring.tokens import TokenCounts, token_counts
from evaluation.scoring.topic_metrics import as_ndeval_reads, measure, ranked_coverage
from evaluation.stats.estimate import Estimate

MAX_CELLS = 1_000_000  # contexts x ranks x questions that are scored at once: 8 MB of grades


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
        return {row_score.name: row_score for row_score in self.rows}

    @property
    def topic_names(self) -> tuple[str, ...]:
        """All topics, in the order of the dataset and of the arrays of each row."""
        return tuple(pool.topic_name for pool in self.pools.values())


def score(dataset: Dataset, options: Options, names: Sequence[str] | None = None) -> Scores:
    """Score all rows, or those named: coverage, ranked coverage, density, recall, MAP, nDCG.

    Z is a row's context, cut off as the options say; see `evaluation.metrics` for the measures and
    `pools.load_pools` for P* and Z*. What is undefined:

    - coverage, ranked coverage and density, where no passage of P* answers a question, or where Z
      has texts and none of their cells of answerable questions is rated (under the authors' rules
      such a context answers nothing);
    - density, where the words of a text of Z or Z* are not there (under the authors' rules it
      counts as a mean passage), or Z has no tokens;
    - on a topic without results, all of them, unless it counts as 0 (Options.zeros);
    - the measures of a ranking, for reports and references. Relevant to recall, MAP and nDCG is, as
      in the paper, every passage of P* with a gain of 1, and no other; a passage of the topic that
      is not rated is not judged.

    A fixed number of queries, but for the words of texts, which are read by the thousand. Raises
    SelectionError, which lists the rows, for a name that is not one.
    """
    corpus = load_corpus(dataset)
    counts = token_counts(dataset, corpus, options.tokenizer, options.rules.mean_stands_in)
    at_any_depth = replace(
        options, cutoff=None, ideal="standard", zeros=OF_RUNS
    )  # none makes another pool
    pools = POOLS.until_db_write(
        (dataset.pk, at_any_depth),
        lambda: load_pools(dataset, options, corpus=corpus, counts=counts),
    )
    all_rows = rows(dataset, pools)
    chosen = all_rows
    if names is not None:
        for name in names:
            one_of("run, system or bound", name, (row.name for row in all_rows))
        chosen = tuple(row for row in all_rows if row.name in names)
    notes = left_out(all_rows) + tuple(
        f"These runs have identical rankings: {', '.join(same)}."
        for same in identical_rankings(all_rows)
    )
    if options.questions:
        notes = (*notes, f"Of the questions only those count that are {options.questions.title}.")
    return Scores(options, pools, _row_scores(chosen, pools, counts, options), notes)


def _row_scores(
    chosen: Sequence[Row], pools: Mapping[int, Pool], counts: TokenCounts, options: Options
) -> tuple[RowScore, ...]:
    contexts = _contexts(chosen, pools, options)
    counts.of(set(chain.from_iterable(contexts)))  # all at once
    table = Table(len(chosen), pools, options.zeros)
    topics = tuple(pools.values())
    ranks = max(map(len, contexts), default=0)
    questions = max((len(pool.questions) for pool in topics), default=0)
    at_once = max(1, MAX_CELLS // max(1, len(chosen) * ranks * questions))
    for start in range(0, len(topics), at_once):
        z = contexts_on(topics[start : start + at_once], chosen, options)
        table.fill(start, z, measure(z, ranked_coverage(z, z.answers, options), counts, options))
        if options.ideal == "standard":
            answers, differ = as_ndeval_reads(z)
            if differ.any():
                values = ranked_coverage(z, answers, options)
                table.ndeval[z.rows[differ], start + z.topics[differ]] = values[differ]
    return tuple(table.row_score(index, row) for index, row in enumerate(chosen))


def _contexts(
    chosen: Sequence[Row], pools: Mapping[int, Pool], options: Options
) -> list[tuple[int, ...]]:
    """Return the keys of the texts of each context."""
    limits = {topic: limit_of(pool, options) for topic, pool in pools.items()}
    return [texts_of(row, topic, limits[topic]) for row in chosen for topic in row.contexts]


def cached_scores(dataset: Dataset, options: Options) -> Scores:
    """`score` of every row, kept until the data change."""
    return cached(dataset, (CacheKey.SCORES, options), lambda: scores_of_all(dataset, options))


def scores_of_all(dataset: Dataset, options: Options) -> Scores:
    """`score` of every row, kept in this process until a write."""
    scores = ALL_SCORES.until_db_write((dataset.pk, options), lambda: score(dataset, options))
    return replace(scores, options=options)  # equal options may have another reason for their judge


def as_json(scores: Scores, row_score: RowScore) -> dict[str, Any]:
    """The scores of one row, and what they were computed with.

    `topics_without_results` are those with something to find on which the row has nothing; `zeros` says
    of which rows they count as 0. An undefined value is null; a topic's `reasons` say why, by metric,
    as a mean's `reason` does. What ndeval has for alpha-nDCG is null where it is the same.
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
        "zeros": options.zeros,
        "tokenizer": options.tokenizer.name,
        "topics": {
            name: _topic(row_score.topics[name])
            if row_score.has[index]
            else _without_results(scores, row_score, name, index)
            for name, index in row_score.topic_index.items()
            if row_score.has[index] or row_score.absent[index]
        },
        "topics_without_results": [
            scores.topic_names[index] for index in np.flatnonzero(row_score.absent).tolist()
        ],
        "mean": {metric: _mean(row_score.means[metric]) for metric in METRICS},
        "mean_alpha_ndcg_ndeval": row_score.mean_ndeval,
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


def _without_results(scores: Scores, row: RowScore, name: str, index: int) -> dict[str, Any]:
    """Return a topic on which the row has no results, in the shape of the others."""
    pool = next(pool for pool in scores.pools.values() if pool.topic_name == name)
    values = {metric: float(row.of(metric)[index]) for metric in METRICS}
    return {
        **dict.fromkeys(("n_passages", "n_answerable", "n_covered", "n_unrated"), 0),
        "n_answerable": len(pool.answerable),
        "n_unrated_cells": 0,
        "n_without_words": 0,
        **{metric: None if np.isnan(value) else value for metric, value in values.items()},
        "alpha_ndcg_ndeval": None,
        "tokens": 0,
        "required_tokens": pool.required_tokens,
        "required_subset": list(pool.required_names),
        "reasons": {
            metric: row.reason(metric, index) for metric, value in values.items() if np.isnan(value)
        },
    }


def _mean(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "n": estimate.n,
        "missing": estimate.missing,
        "ci95": None if estimate.low is None else [estimate.low, estimate.high],
        "reason": estimate.reason or estimate.interval_reason,
    }
