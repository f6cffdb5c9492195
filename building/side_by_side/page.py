"""Comparison of two rankings of a topic: rank changes and overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from annotation.models import Topic
from evaluation.models import RankedText, RetrievalRun
from evaluation.stats.correlation import Correlation, kendall_tau_b
from evaluation.stats.estimate import Estimate
from evaluation.stats.overlap import rbo_ext

TOP = 10  # ranks for the overlap count
PERSISTENCE = 0.9  # of rank-biased overlap, as where systems are ordered
PER_PAGE = 50  # ranks


@dataclass(frozen=True)
class RankedPosition:
    """A text's rank in one run, and in the other, if it is there."""

    key: int
    name: str
    rank: int
    other: int | None
    up: int
    """How many ranks the second run has it above the first; below 0 where it has it further down."""

    @property
    def distance(self) -> int:
        return abs(self.up)

    @property
    def other_page(self) -> int:
        """Return the page number of its rank in the other run."""
        return ((self.other or 1) - 1) // PER_PAGE + 1


@dataclass(frozen=True)
class SideBySide:
    """Both rankings with their overlap measures over the whole length.

    `n_top` of the first ten are the same. `overlap` is rank-biased, `tau` that of the texts that both have.
    """

    first: tuple[RankedPosition, ...]
    second: tuple[RankedPosition, ...]
    n_both: int
    n_top: int
    overlap: Estimate
    tau: Correlation

    @property
    def rows(self) -> list[tuple[int, RankedPosition | None, RankedPosition | None]]:
        """(rank, text of the first, text of the second); None below the end of the shorter one."""
        pairs = zip_longest(self.first, self.second)
        return [(rank, first, second) for rank, (first, second) in enumerate(pairs, 1)]

    @property
    def n_first_alone(self) -> int:
        return len(self.first) - self.n_both

    @property
    def n_second_alone(self) -> int:
        return len(self.second) - self.n_both


def side_by_side_of(first: RetrievalRun, second: RetrievalRun, topic: Topic) -> SideBySide:
    """Compare the rankings of a topic by two runs; either may be empty."""
    ours, theirs = _ranked(first, topic), _ranked(second, topic)
    at_first = {text.text_id: text.rank for text in ours}
    at_second = {text.text_id: text.rank for text in theirs}
    both = [key for key in at_first if key in at_second]
    return SideBySide(
        first=_placed(ours, at_second, 1),
        second=_placed(theirs, at_first, -1),
        n_both=len(both),
        n_top=len(set(list(at_first)[:TOP]) & set(list(at_second)[:TOP])),
        overlap=rbo_ext(list(at_first), list(at_second), PERSISTENCE),
        tau=kendall_tau_b([at_first[key] for key in both], [at_second[key] for key in both]),
    )


def _ranked(run: RetrievalRun, topic: Topic) -> list[RankedText]:
    rows = RankedText.objects.filter(run=run, topic=topic).select_related("text")
    return list(rows.defer("text__body").order_by("rank"))


def _placed(
    ranked: Sequence[RankedText], other_ranks: Mapping[int, int], sign: int
) -> tuple[RankedPosition, ...]:
    placed = []
    for row in ranked:
        other_rank = other_ranks.get(row.text_id)
        up = sign * (row.rank - other_rank) if other_rank else 0
        placed.append(RankedPosition(row.text_id, row.text.name, row.rank, other_rank, up))
    return tuple(placed)
