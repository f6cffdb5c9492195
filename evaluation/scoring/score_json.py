"""Scores as one JSON object a row."""

from __future__ import annotations

from typing import Any

from evaluation.scoring.options import SIZE
from evaluation.scoring.score import METRICS, RowScore, Scores, TopicScore
from evaluation.stats.estimate import Estimate


def as_json(scores: Scores, found: RowScore) -> dict[str, Any]:
    """The scores of one row, and what they were computed with.

    An undefined value is null; a topic's `reasons` say why, by metric, as a mean's `reason` does.
    What ndeval has for alpha-nDCG is null where it is the same.
    `n_unrated` counts texts of the context, `n_unrated_cells` their pairs with a question.
    """
    options = scores.options
    return {
        "run": found.row.name,
        "kind": found.row.kind,
        "judge": options.source.name,
        "eta": options.eta,
        "cutoff": SIZE if options.cutoff is None else options.cutoff,
        "ideal": options.ideal,
        "rules": options.rules.name,
        "tokenizer": options.tokenizer.name,
        "topics": {name: _topic(score) for name, score in found.topics.items()},
        "mean": {metric: _mean(found.means[metric]) for metric in METRICS},
        "mean_alpha_ndcg_ndeval": found.alpha_ndcg_ndeval,
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


def _mean(found: Estimate) -> dict[str, Any]:
    return {
        "value": found.value,
        "n": found.n,
        "missing": found.missing,
        "ci95": None if found.low is None else [found.low, found.high],
        "reason": found.reason or found.interval_reason,
    }
