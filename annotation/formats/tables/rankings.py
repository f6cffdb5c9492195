"""Order of a ranking whose rows tables have: by rank, else by score, else by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from annotation.errors import UserError

Origin = tuple[int, int]  # index of the table, number of the row
Ranked = tuple[int | None, float | None, str, Origin]  # rank, score, passage


class RankingError(UserError):
    """Rows that are no ranking, with the row and the role that contradict the others."""

    def __init__(self, origin: Origin, role: str, message: str) -> None:
        super().__init__(message)
        self.origin, self.role = origin, role


def ordered(
    run: str, topic: str, rows: Sequence[Ranked], location: Callable[[Origin], str]
) -> list[Ranked]:
    """Return the rows in the order of the ranking. Raises RankingError."""
    of_run = f"for {topic} in {run}"
    ranking = _sorted(rows, of_run)
    for a, b in pairwise(ranking):
        if a[1] is not None and b[1] is not None and a[1] < b[1]:
            message = (
                f"rank and score disagree {of_run}: {b[2]} has a higher score and a lower rank"
            )
            raise RankingError(b[3], "rank", message)
    previous: dict[str, Origin] = {}
    for _, _, passage, origin in ranking:
        if passage in previous:
            message = f"{passage} is ranked twice {of_run}, also at {location(previous[passage])}"
            raise RankingError(origin, "text.id", message)
        previous[passage] = origin
    return ranking


def _sorted(rows: Sequence[Ranked], of_run: str) -> list[Ranked]:
    if all(rank is not None for rank, *_ in rows):
        by_rank = sorted(rows, key=lambda row: row[0] or 0)
        twice = next((b for a, b in pairwise(by_rank) if a[0] == b[0]), None)
        if twice:
            raise RankingError(twice[3], "rank", f"{twice[0]} is there twice {of_run}")
        return by_rank
    if all(score is not None for _, score, *_ in rows):
        return sorted(rows, key=lambda row: -(row[1] or 0.0))
    return list(rows)
