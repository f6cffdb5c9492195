"""The numbers of the retrieval room as one long frame: means of each system and bound, then topic by topic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.csv_tables import Number, estimated
from evaluation.retrieval.board import Board
from evaluation.scoring.row_score import BOUNDS, COUNTS, METRICS, REPORTS, RUNS, RowScore

TOPIC = "topic"
SCOPES = (BOUNDS, RUNS, REPORTS, TOPIC)
NO_WORDS = "undefined, because words of its texts are not there"
NO_REQUIRED_WORDS = "undefined, because words of the required subset are not there"


def numbers(board: Board) -> Iterator[Number]:
    """Every number of the board: of each row its means over topics, in the scope of its group; then its topics.

    A topic is named "ROW, TOPIC". n of a mean are topics; of a metric on a topic what the metric is
    computed from. `alpha_ndcg_ndeval` is left out where it is the same as `alpha_ndcg`.
    """
    for row in board.rows:
        yield from _means(row)
    for row in board.rows:
        for place in np.flatnonzero(row.has | row.absent).tolist():
            yield from _on_topic(board, row, place)


def _means(row: RowScore) -> Iterator[Number]:
    where = row.group, row.name
    yield Number(*where, "topics", row.n_topics)
    yield Number(*where, "topics_without_results", row.n_absent)
    if row.size:
        yield Number(*where, "mean_passages", row.size[0], n=row.n_topics, missing=0)
    for metric in METRICS:
        yield estimated(*where, metric, row.means[metric])
    if row.mean_ndeval is not None:
        ours = row.means["alpha_ndcg"]
        theirs = row.mean_ndeval
        yield Number(*where, "alpha_ndcg_ndeval", theirs, n=ours.n, missing=ours.missing)
    yield Number(*where, "cells", row.n_cells)
    yield Number(*where, "unrated_cells", row.n_unrated)
    yield Number(*where, "texts_without_words", row.n_wordless)


def _on_topic(board: Board, row: RowScore, place: int) -> Iterator[Number]:
    where = TOPIC, f"{row.name}, {board.topics[place]}"
    for index, metric in enumerate(METRICS):
        yield Number(
            *(*where, metric, _value(row.values[index, place])),
            n=int(row.n[index, place]),
            missing=int(row.missing[index, place]),
            reason=row.reason(metric, place) or None,
        )
    theirs = _value(row.ndeval[place])
    if theirs is not None:
        yield Number(*where, "alpha_ndcg_ndeval", theirs)
    for name in COUNTS:
        yield Number(*where, name, int(row.counts[name][place]))
    yield _length(where, "tokens", row.tokens[place], NO_WORDS)
    yield Number(*where, "required_passages", int(board.n_required[place]))
    yield _length(where, "required_tokens", board.required_tokens[place], NO_REQUIRED_WORDS)


def _length(where: tuple[str, str], measure: str, tokens: float, why: str) -> Number:
    value = _value(tokens)
    return Number(*where, measure, value, reason=why if value is None else None)


def _value(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
