"""Run against run: two rows, topic by topic, from the largest difference to the smallest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.data.cache import cached
from evaluation.data.selection import SelectionError, one_of
from evaluation.retrieval.board import Board
from evaluation.retrieval.differences import PairTest, pair_test
from evaluation.retrieval.params import Choice
from evaluation.scoring.row_score import RowScore


@dataclass(frozen=True, slots=True)
class TopicPair:
    """One topic on which both have a value. `index` is its place among the topics."""

    index: int
    key: int
    name: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.first - self.second


@dataclass(frozen=True)
class Comparison:
    """Two rows by one metric. `n_alone` topics have a value of one of the two only."""

    first: RowScore
    second: RowScore
    test: PairTest
    topics: tuple[TopicPair, ...]
    n_alone: int


def comparison(board: Board, choice: Choice, asked: Mapping[str, str]) -> Comparison | None:
    """The rows that `a` and `b` name, by default the first two systems; None with fewer rows.

    Raises SelectionError for a name that is not there, or for twice the same one.
    """
    names = [row.name for row in board.rows]
    systems = [row.name for row in board.compared(choice.among, choice.topics)]
    if len(names) < 2:
        return None
    default = (systems if len(systems) > 1 else names)[:2]
    a = one_of("run, system or bound", asked.get("a") or default[0], names)
    other = default[1] if a == default[0] else default[0]
    b = one_of("run, system or bound", asked.get("b") or other, names)
    if a == b:
        raise SelectionError(f"“{a}” against itself says nothing: choose two.")
    first, second = board.by_name[a], board.by_name[b]
    ours, theirs = first.of(choice.metric), second.of(choice.metric)
    difference = ours - theirs
    both = np.flatnonzero(~np.isnan(difference))
    order = both[np.lexsort((both, -np.abs(difference[both])))]
    return Comparison(
        first,
        second,
        cached(
            choice.dataset,
            ("retrieval pair", choice.options, choice.metric, a, b),
            lambda: pair_test(first, second, choice.metric),
        ),
        tuple(
            TopicPair(
                index,
                board.keys[index],
                board.topics[index],
                float(ours[index]),
                float(theirs[index]),
            )
            for index in order.tolist()
        ),
        n_alone=int((np.isnan(ours) != np.isnan(theirs)).sum()),
    )
