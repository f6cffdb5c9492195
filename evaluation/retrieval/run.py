"""One system or bound, topic by topic: every metric with what it is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.retrieval.board import Board
from evaluation.retrieval.params import NAME, Choice
from evaluation.scoring.row_score import METRICS, RowScore


@dataclass(frozen=True)
class Value:
    """A metric on a topic: None with the reason where undefined."""

    value: float | None
    reason: str
    ndeval: float | None = None


@dataclass(frozen=True)
class RunTopic:
    """Z of one topic. `tokens` and `required_tokens` are None where words are not there."""

    key: int
    topic: str
    has_results: bool
    values: tuple[Value, ...]
    n_passages: int
    n_covered: int
    n_answerable: int
    n_unrated_cells: int
    tokens: int | None
    n_required: int
    required_tokens: int | None

    @property
    def n_cells(self) -> int:
        return self.n_passages * self.n_answerable


def topic_order(row: RowScore, choice: Choice) -> Sequence[int]:
    """The places of its topics, and of those without results, in the order of the choice."""
    own = np.flatnonzero(row.has | row.absent)
    if choice.by == NAME:
        return own[::-1].tolist() if choice.falls else own.tolist()
    values = row.of(choice.by)[own]
    keys = -values if choice.falls else values
    return own[np.argsort(keys, kind="stable")].tolist()  # NaN is sorted last either way


def run_topics(board: Board, row: RowScore, places: Sequence[int]) -> list[RunTopic]:
    """These topics of a row."""
    return [
        RunTopic(
            key=board.keys[place],
            topic=board.topics[place],
            has_results=bool(row.has[place]),
            values=tuple(
                Value(
                    _known(row.of(metric)[place]),
                    row.reason(metric, place).removeprefix("undefined, because "),
                    _known(row.ndeval[place]) if metric == "alpha_ndcg" else None,
                )
                for metric in METRICS
            ),
            n_passages=int(row.counts["n_passages"][place]),
            n_covered=int(row.counts["n_covered"][place]),
            n_answerable=int(row.counts["n_answerable"][place]),
            n_unrated_cells=int(row.counts["n_unrated_cells"][place]),
            tokens=_whole(row.tokens[place]),
            n_required=int(board.n_required[place]),
            required_tokens=_whole(board.required_tokens[place]),
        )
        for place in places
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)
