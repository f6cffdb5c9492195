"""Comparison of two runs, topic by topic, from the largest difference to the smallest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.selection import SelectionError, one_of
from evaluation.page_tables import SortValue
from evaluation.retrieval.differences import PairTest, pair_test
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.retrieval.query import RetrievalQuery
from evaluation.scoring.row_score import RowScore


@dataclass(frozen=True, slots=True)
class TopicPair:
    """Topic on which both runs have a value. `index` is its index among the topics."""

    index: int
    key: int
    name: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.first - self.second


TOPIC_VALUES: dict[str, Callable[[TopicPair], SortValue]] = {
    "topic": lambda topic: topic.name,
    "first": lambda topic: topic.first,
    "second": lambda topic: topic.second,
    "difference": lambda topic: topic.difference,
}
"""Values by which the topics are sorted, by column."""


@dataclass(frozen=True)
class Comparison:
    """Two rows by one metric. `n_alone` topics have a value of one of the two only."""

    first: RowScore
    second: RowScore
    test: PairTest
    topics: tuple[TopicPair, ...]
    n_alone: int


def comparison(
    board: Leaderboard, choice: RetrievalQuery, params: Mapping[str, str]
) -> Comparison | None:
    """Return the comparison of rows `a` and `b`, by default the first two systems.

    None with fewer than two rows. Raises SelectionError for a name that does not exist, or twice the same.
    """
    names = [row.name for row in board.rows]
    systems = [row.name for row in board.compared(choice.among, choice.topics)]
    if len(names) < 2:
        return None
    default = (systems if len(systems) > 1 else names)[:2]
    a = one_of("run, system or bound", params.get("a") or default[0], names)
    second_default = default[1] if a == default[0] else default[0]
    b = one_of("run, system or bound", params.get("b") or second_default, names)
    if a == b:
        raise SelectionError(f"“{a}” cannot be compared with itself: choose two.")
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
            (CacheKey.PAIR_TEST, choice.options, choice.metric, a, b),
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
