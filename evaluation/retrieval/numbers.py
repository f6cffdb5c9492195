"""Numbers of the retrieval pages as one long table: means of each row, then topics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.result_tables import Number, estimated
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.scoring.row_score import BOUNDS, COUNTS, METRICS, REPORTS, RUNS, RowScore

TOPIC = "topic"
SCOPES = (BOUNDS, RUNS, REPORTS, TOPIC)
NO_BODY = "undefined, because words of its texts are not there"
NO_REQUIRED_BODY = "undefined, because words of the required subset are not there"


def numbers(board: Leaderboard) -> Iterator[Number]:
    """Yield all numbers of the board: means of each row, in its group's scope, then topics.

    A topic is named "ROW, TOPIC". n of a mean are topics; of a metric on a topic its own counts.
    `alpha_ndcg_ndeval` is left out where it is the same as `alpha_ndcg`.
    """
    for row in board.rows:
        yield from _means(row)
    for row in board.rows:
        for index in np.flatnonzero(row.has | row.absent).tolist():
            yield from _on_topic(board, row, index)


def _means(row: RowScore) -> Iterator[Number]:
    scope_and_name = row.group, row.name
    yield Number(*scope_and_name, "topics", row.n_topics)
    yield Number(*scope_and_name, "topics_without_results", row.n_absent)
    if row.size:
        yield Number(*scope_and_name, "mean_passages", row.size[0], n=row.n_topics, missing=0)
    for metric in METRICS:
        yield estimated(*scope_and_name, metric, row.means[metric])
    if row.mean_ndeval is not None:
        ours = row.means["alpha_ndcg"]
        theirs = row.mean_ndeval
        yield Number(*scope_and_name, "alpha_ndcg_ndeval", theirs, n=ours.n, missing=ours.missing)
    yield Number(*scope_and_name, "cells", row.n_cells)
    yield Number(*scope_and_name, "unrated_cells", row.n_unrated)
    yield Number(*scope_and_name, "texts_without_words", row.n_wordless)


def _on_topic(board: Leaderboard, row: RowScore, topic_index: int) -> Iterator[Number]:
    scope_and_name = TOPIC, f"{row.name}, {board.topics[topic_index]}"
    for index, metric in enumerate(METRICS):
        yield Number(
            *(*scope_and_name, metric, _value(row.values[index, topic_index])),
            n=int(row.n[index, topic_index]),
            missing=int(row.missing[index, topic_index]),
            reason=row.reason(metric, topic_index) or None,
        )
    theirs = _value(row.ndeval[topic_index])
    if theirs is not None:
        yield Number(*scope_and_name, "alpha_ndcg_ndeval", theirs)
    for name in COUNTS:
        yield Number(*scope_and_name, name, int(row.counts[name][topic_index]))
    yield _length(scope_and_name, "tokens", row.tokens[topic_index], NO_BODY)
    yield Number(*scope_and_name, "required_passages", int(board.n_required[topic_index]))
    yield _length(
        scope_and_name, "required_tokens", board.required_tokens[topic_index], NO_REQUIRED_BODY
    )


def _length(scope_and_name: tuple[str, str], measure: str, tokens: float, reason: str) -> Number:
    value = _value(tokens)
    return Number(*scope_and_name, measure, value, reason=reason if value is None else None)


def _value(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
