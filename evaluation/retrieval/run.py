"""Scores of one system or bound, topic by topic, with the counts behind each metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluation.page_tables import SortValue
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.retrieval.query import NAME
from evaluation.scoring.row_score import METRICS, RowScore
from evaluation.stats.estimate import FloatArray, IntArray


@dataclass(frozen=True)
class Value:
    """Metric on a topic: None with the reason where undefined."""

    value: float | None
    reason: str
    ndeval: float | None = None


@dataclass(frozen=True)
class RunTopic:
    """Z of one topic. `tokens` and `required_tokens` are None where a text is missing."""

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


def topic_values(board: Leaderboard, row: RowScore) -> dict[str, Callable[[int], SortValue]]:
    """Return the values by which the topics of a row are sorted, from their indexes."""
    values: dict[str, Callable[[int], SortValue]] = {
        metric: partial(_value_on, row.of(metric)) for metric in METRICS
    }
    counts = {"covered": "n_covered", "texts": "n_passages", "unrated": "n_unrated_cells"}
    return values | {
        NAME: lambda index: board.topics[index],
        "words": partial(_value_on, row.tokens),
        **{column: partial(_value_on, row.counts[name]) for column, name in counts.items()},
    }


def topics_of(row: RowScore) -> list[int]:
    """Return the indexes of the topics of a row, also of those without results."""
    indexes: list[int] = np.flatnonzero(row.has | row.absent).tolist()
    return indexes


def run_topics(board: Leaderboard, row: RowScore, indexes: Sequence[int]) -> list[RunTopic]:
    """Return these topics of a row."""
    return [
        RunTopic(
            key=board.keys[index],
            topic=board.topics[index],
            has_results=bool(row.has[index]),
            values=tuple(
                Value(
                    _none_if_nan(row.of(metric)[index]),
                    row.reason(metric, index).removeprefix("undefined, because "),
                    _none_if_nan(row.ndeval[index]) if metric == "alpha_ndcg" else None,
                )
                for metric in METRICS
            ),
            n_passages=int(row.counts["n_passages"][index]),
            n_covered=int(row.counts["n_covered"][index]),
            n_answerable=int(row.counts["n_answerable"][index]),
            n_unrated_cells=int(row.counts["n_unrated_cells"][index]),
            tokens=_whole(row.tokens[index]),
            n_required=int(board.n_required[index]),
            required_tokens=_whole(board.required_tokens[index]),
        )
        for index in indexes
    ]


def _value_on(values: FloatArray | IntArray, index: int) -> float | None:
    return _none_if_nan(values[index])


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)
