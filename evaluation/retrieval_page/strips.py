"""A metric on every topic, one strip for each system, all on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.agreement.estimate import Estimate
from evaluation.charts import Axis
from evaluation.retrieval_page.board import Board, BoardRow
from evaluation.retrieval_page.charts import (
    DRAWN,
    Point,
    Tick,
    TopicStrip,
    strip_ticks,
    topic_strip,
    value_axis,
)


@dataclass(frozen=True)
class TopicValue:
    """One system on one topic: None where undefined, and `has` False where it is none of its own."""

    key: int
    topic: str
    value: float | None
    reason: str
    has: bool


@dataclass(frozen=True)
class StripRow:
    """One system. `values` has every topic where points are drawn, and none where quantiles are."""

    row: BoardRow
    mean: Estimate
    strip: TopicStrip
    values: tuple[TopicValue, ...]

    @property
    def points(self) -> list[tuple[Point, TopicValue]]:
        return [(point, self.values[point.at]) for point in self.strip.points]


@dataclass(frozen=True)
class Strips:
    axis: Axis
    ticks: tuple[Tick, ...]
    rows: tuple[StripRow, ...]
    topics: tuple[tuple[int, str], ...]
    is_drawn: bool
    """Whether each topic is a point."""

    @property
    def by_topic(self) -> list[tuple[str, list[tuple[StripRow, TopicValue]]]]:
        """The same values as lines of a table: a topic, and each system on it."""
        return [
            (topic, [(row, row.values[at]) for row in self.rows])
            for at, (_, topic) in enumerate(self.topics)
        ]


def strips(board: Board, systems: Sequence[BoardRow], metric: str) -> Strips:
    """The strips of these systems, from the highest mean to the lowest, undefined ones last."""
    axis = value_axis(*(row.of(metric) for row in systems))
    is_drawn = len(board.topics) <= DRAWN
    ordered = sorted(
        systems,
        key=lambda row: (
            row.means[metric].value is None,
            -(row.means[metric].value or 0),
            row.name,
        ),
    )
    return Strips(
        axis,
        strip_ticks(axis),
        tuple(
            StripRow(
                row,
                row.means[metric],
                topic_strip(row.of(metric), axis),
                topic_values(board, row, metric) if is_drawn else (),
            )
            for row in ordered
        ),
        tuple(zip(board.keys, board.topics, strict=True)) if is_drawn else (),
        is_drawn,
    )


def topic_values(board: Board, row: BoardRow, metric: str) -> tuple[TopicValue, ...]:
    """The metric of one system on every topic, in the order of the dataset."""
    return tuple(
        TopicValue(
            key,
            topic,
            None if np.isnan(value) else value,
            row.reason(metric, at).removeprefix("undefined, because "),
            bool(row.has[at]),
        )
        for at, (key, topic, value) in enumerate(
            zip(board.keys, board.topics, row.of(metric).tolist(), strict=True)
        )
    )
