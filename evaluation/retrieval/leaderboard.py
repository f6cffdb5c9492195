"""Leaderboard: scores of a dataset without texts, small enough to cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from annotation.models import Dataset
from evaluation.data.cache import cached, cached_or_none
from evaluation.data.cache_keys import CacheKey
from evaluation.scoring.options import Options
from evaluation.scoring.row_score import RowScore
from evaluation.scoring.same_topics import on_same_topics
from evaluation.scoring.score import scores_of_all
from evaluation.stats.estimate import FloatArray, IntArray

SAME, ANY = "same", "any"


@dataclass(frozen=True)
class Leaderboard:
    """All rows of a dataset under one set of options, and the topics by name and by key."""

    rows: tuple[RowScore, ...]
    topics: tuple[str, ...]
    keys: tuple[int, ...]
    required_tokens: FloatArray
    """The length of each topic's Z*, NaN where it is not known."""
    n_required: IntArray
    notes: tuple[str, ...]

    @property
    def has_ndeval(self) -> bool:
        """Return whether a run gains by passages of other topics, which alpha-nDCG's ideal lacks."""
        return any(row.mean_ndeval is not None for row in self.rows)

    @cached_property
    def by_name(self) -> dict[str, RowScore]:
        return {row.name: row for row in self.rows}

    def systems(self, group: str) -> tuple[RowScore, ...]:
        """Return the empirical systems of one kind, runs or reports, by name, without bounds."""
        return tuple(row for row in self.rows if row.group == group)

    def compared(self, group: str, topics: str) -> tuple[RowScore, ...]:
        """Return the systems of one kind that are compared: on the SAME topics, or on ANY."""
        systems = self.systems(group)
        return on_same_topics(systems) if topics == SAME else systems


def leaderboard(dataset: Dataset, options: Options) -> Leaderboard:
    """Return the scores of all rows, cached until the data change."""
    return cached(dataset, (CacheKey.LEADERBOARD, options), lambda: _board(dataset, options))


def leaderboard_if_cached(dataset: Dataset, options: Options) -> Leaderboard | None:
    """Return the scores if they are cached; compute nothing."""
    scores: Leaderboard | None = cached_or_none(dataset, (CacheKey.LEADERBOARD, options))
    return scores


def _board(dataset: Dataset, options: Options) -> Leaderboard:
    scores = scores_of_all(dataset, options)
    pools = scores.pools.values()
    return Leaderboard(
        rows=tuple(_without_texts(row) for row in scores.rows),
        topics=scores.topic_names,
        keys=tuple(scores.pools),
        required_tokens=_floats(pool.required_tokens for pool in pools),
        n_required=np.array([len(pool.required) for pool in pools], dtype=np.int64),
        notes=scores.notes,
    )


def _without_texts(row_score: RowScore) -> RowScore:
    return replace(row_score, row=replace(row_score.row, contexts={}), pools=())


def _floats(values: Iterable[int | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
