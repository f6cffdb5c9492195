"""The cells of a comparison one by one: filtered, the largest change first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from judging.grading.labels import failure_label

CHUNK = 2_000
FAILED, ABSENT = -1, -2  # instead of a grade: asked in vain, not asked

IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]
Test = Callable[[IntArray, IntArray, int], Mask]


def _graded(a: IntArray, b: IntArray) -> Mask:
    return np.asarray((a >= 0) & (b >= 0))


CELL_KINDS: Mapping[str, tuple[str, Test]] = {
    "changed": ("another grade", lambda a, b, _: _graded(a, b) & (a != b)),
    "up": ("a higher grade in B", lambda a, b, _: _graded(a, b) & (b > a)),
    "down": ("a lower grade in B", lambda a, b, _: _graded(a, b) & (b < a)),
    "same": ("the same grade", lambda a, b, _: _graded(a, b) & (a == b)),
    "both": ("graded in both", lambda a, b, _: _graded(a, b)),
    "crossed": (
        "answerable in only one",
        lambda a, b, eta: _graded(a, b) & ((a >= eta) != (b >= eta)),
    ),
    "crossed-up": (
        "answerable only in B",
        lambda a, b, eta: _graded(a, b) & (a < eta) & (b >= eta),
    ),
    "crossed-down": (
        "answerable only in A",
        lambda a, b, eta: _graded(a, b) & (a >= eta) & (b < eta),
    ),
    "failed-in-a": ("failed in A, graded in B", lambda a, b, _: (a == FAILED) & (b >= 0)),
    "failed-in-b": ("graded in A, failed in B", lambda a, b, _: (a >= 0) & (b == FAILED)),
    "failed-in-both": ("failed in both", lambda a, b, _: (a == FAILED) & (b == FAILED)),
    "only-in-a": ("asked only in A", lambda a, b, _: b == ABSENT),
    "only-in-b": ("asked only in B", lambda a, b, _: a == ABSENT),
}
"""What a list can show: its title, and which grades of both sides, or FAILED or ABSENT, it shows at an eta."""

# Left joins both ways, as not every SQLite has a full join. COALESCE: a failed attempt has no grade, and a
# side that was not asked has no attempt either.
BOTH_SIDES = """
WITH side_a AS (
  SELECT attempt.id, text_id, question_id, grade, failure FROM judging_attempt attempt
  JOIN judging_batch batch ON batch.id = attempt.batch_id
  JOIN annotation_text text ON text.id = text_id AND text.dataset_id = %s
  WHERE {a}
), side_b AS (
  SELECT attempt.id, text_id, question_id, grade, failure FROM judging_attempt attempt
  JOIN judging_batch batch ON batch.id = attempt.batch_id
  JOIN annotation_text text ON text.id = text_id AND text.dataset_id = %s
  WHERE {b}
), joined AS (
  SELECT side_a.text_id, side_a.question_id, side_a.id AS a, side_b.id AS b,
         side_a.grade AS grade_a, side_b.grade AS grade_b,
         side_a.failure AS failure_a, side_b.failure AS failure_b
  FROM side_a LEFT JOIN side_b
  ON side_b.text_id = side_a.text_id AND side_b.question_id = side_a.question_id
  UNION ALL
  SELECT side_b.text_id, side_b.question_id, NULL, side_b.id, NULL, side_b.grade, NULL, side_b.failure
  FROM side_b LEFT JOIN side_a
  ON side_a.text_id = side_b.text_id AND side_a.question_id = side_b.question_id
  WHERE side_a.id IS NULL
), pairs AS (
  SELECT joined.*,
         COALESCE(grade_a, CASE WHEN a IS NULL THEN {absent} ELSE {failed} END) AS outcome_a,
         COALESCE(grade_b, CASE WHEN b IS NULL THEN {absent} ELSE {failed} END) AS outcome_b
  FROM joined
)
"""
_LIST = """
SELECT topic.name, text.kind, text.system, text.name, text.id, question.id, question.position,
       question.body, a, grade_a, failure_a, b, grade_b, failure_b
FROM pairs
JOIN annotation_text text ON text.id = pairs.text_id
JOIN annotation_subquestion question ON question.id = pairs.question_id
JOIN annotation_topic topic ON topic.id = question.topic_id
WHERE {condition}
ORDER BY {order}topic.position, text.id, question.position
"""
_LARGEST_FIRST = "ABS(COALESCE(grade_a - grade_b, 0)) DESC, "


@dataclass(frozen=True)
class CellFilter:
    """Filter of cells: a kind from SHOWS, and optionally grades, a topic, a kind of text."""

    show: str = "changed"
    grade_a: int | None = None
    grade_b: int | None = None
    topic: int | None = None
    part: str = ""

    def fits(self, a: IntArray, b: IntArray, eta: int | None) -> Mask:
        """Return a mask of the pairs of grades that are of the kind of this filter.

        The grades of both sides may be FAILED or ABSENT.
        """
        # Without an eta nothing is asked for that looks at it.
        mask = CELL_KINDS[self.show][1](a, b, 0 if eta is None else eta)
        if self.grade_a is not None:
            mask &= a == self.grade_a
        if self.grade_b is not None:
            mask &= b == self.grade_b
        return mask

    def params(self, **changes: Any) -> dict[str, Any]:
        """Return the filter as URL parameters, without empty ones."""
        params = asdict(self) | changes
        return {key: value for key, value in params.items() if value not in (None, "")}


class SideReply(NamedTuple):
    """Reply of one side in a cell: no attempt, an attempt with a grade, or a failed one."""

    attempt: int | None
    grade: int | None
    failure: str | None
    name: str = ""
    """What the grade is called, where it is a name."""

    @property
    def words(self) -> str:
        if self.attempt is None:
            return "not asked"
        if self.grade is None:
            return failure_label(self.failure or "")
        return f"{self.name} ({self.grade})" if self.name else str(self.grade)


class Cell(NamedTuple):
    """A pair with the replies of both sides."""

    topic: str
    kind: str
    system: str
    name: str
    text: int
    question: int
    number: int
    words: str
    a: SideReply
    b: SideReply

    @property
    def change(self) -> int | None:
        """Return the grade of b minus that of a; None unless both graded."""
        if self.a.grade is None or self.b.grade is None:
            return None
        return self.b.grade - self.a.grade


class Cells:
    """Cells of a filter, read lazily from the database.

    `pairs` begins every query. With `names` grades are names: each is called so, and no change is
    larger than another.
    """

    def __init__(
        self,
        pairs: str,
        parameters: list[int],
        cell_filter: CellFilter,
        eta: int | None,
        levels: list[int],
        names: Mapping[int, str] | None = None,
    ) -> None:
        condition, values = _condition(cell_filter, eta, levels)
        order = _LARGEST_FIRST if names is None else ""
        self._names = names or {}
        self._sql = pairs + _LIST.format(condition=condition, order=order)
        self._values: list[Any] = [*parameters, *values]

    def page(self, start: int, end: int) -> list[Cell]:
        """Return the cells from `start` to before `end`, in the order of the list."""
        with connection.cursor() as cursor:
            cursor.execute(self._sql + " LIMIT %s OFFSET %s", [*self._values, end - start, start])
            return [self._cell(row) for row in cursor.fetchall()]

    def __iter__(self) -> Iterator[Cell]:
        """Yield all cells, read in chunks of CHUNK rows."""
        with connection.chunked_cursor() as cursor:
            cursor.execute(self._sql, self._values)
            while rows := cursor.fetchmany(CHUNK):
                yield from map(self._cell, rows)

    def _cell(self, row: tuple[Any, ...]) -> Cell:
        a, b = (
            SideReply(attempt, grade, failure, self._names.get(grade, ""))
            for attempt, grade, failure in (row[8:11], row[11:])
        )
        return Cell._make((*row[:6], row[6] + 1, row[7], a, b))


def _condition(
    cell_filter: CellFilter, eta: int | None, levels: list[int]
) -> tuple[str, list[Any]]:
    # What the counts are made by, asked of every two grades that there can be.
    outcomes = [ABSENT, FAILED, *levels]
    a, b = (grid.ravel() for grid in np.meshgrid(outcomes, outcomes))
    fits = cell_filter.fits(a, b, eta)
    listed = ", ".join(f"({x}, {y})" for x, y in zip(a[fits], b[fits], strict=True))
    conditions, values = [f"(outcome_a, outcome_b) IN (VALUES {listed})" if listed else "1 = 0"], []
    for column, value in (
        ("question.topic_id", cell_filter.topic),
        ("TRIM(text.kind || ' ' || text.system)", cell_filter.part or None),
    ):
        if value is not None:
            conditions.append(f"{column} = %s")
            values.append(value)
    return " AND ".join(conditions), values
