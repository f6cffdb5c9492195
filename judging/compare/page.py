"""Comparison of two judges, or two runs, cell by cell.

The database joins the attempts of both sides and counts them; what comes here are some numbers for each
topic and kind of text, whatever the number of pairs. How far two raters agree beyond chance is a page of
evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from annotation.models import Dataset, Rubric
from judging.compare.cells import (
    ABSENT,
    BOTH_SIDES,
    CELL_KINDS,
    FAILED,
    CellFilter,
    Cells,
    IntArray,
    Mask,
)
from judging.models import Judge, JudgeRun

GROUP = np.dtype(
    [
        *(("topic", np.int64), ("part", np.int64), ("a", np.int64), ("b", np.int64)),
        ("n", np.int64),
    ]
)
CHUNK = 2_000


@dataclass(frozen=True)
class Side:
    """Side of a comparison: the attempts of a judge that count, or all attempts of a run."""

    judge: Judge
    run: JudgeRun | None = None

    @property
    def title(self) -> str:
        return f"run {self.run.pk} of {self.judge.title}" if self.run else self.judge.title

    def where(self) -> tuple[str, list[int]]:
        """Return the SQL condition on `attempt` and `batch` that selects the side's attempts."""
        if self.run:
            return "batch.run_id = %s", [self.run.pk]
        return "attempt.judge_id = %s AND attempt.counts", [self.judge.pk]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Counts of cells that both sides graded, of one part or of all.

    `shift` is the mean of b's grade minus a's, in grades; None where no cell is graded by both.
    """

    name: str
    key: str
    n: int
    n_changed: int
    n_up: int
    n_down: int
    shift: float | None

    @property
    def share(self) -> float | None:
        """Return the share of changed grades among the cells that both sides graded."""
        return self.n_changed / self.n if self.n else None


@dataclass(frozen=True)
class Comparison:
    """Two sides on one dataset, at an eta; None where no grade says answerable."""

    dataset: Dataset
    a: Side
    b: Side
    eta: int | None

    @property
    def rubric(self) -> Rubric:
        return self.a.judge.rubric

    @cached_property
    def levels(self) -> list[int]:
        """The grades of either side, ascending."""
        return sorted({int(grade) for side in (self.a, self.b) for grade, _ in side.judge.levels})

    @cached_property
    def names(self) -> dict[int, str]:
        """Return the name of each grade."""
        labels = self.rubric.names()
        return {level: labels.get(level, str(level)) for level in self.levels}

    @property
    def cell_kinds(self) -> dict[str, str]:
        """Return the kinds of cells that can be listed, with titles.

        Nominal grades have no "higher" and "lower", and without a threshold none is "answerable".
        """
        left_out = [] if self.rubric.has_order else ["up", "down"]
        left_out += [] if self.rubric.has_threshold else ["crossed", "crossed-up", "crossed-down"]
        return {show: title for show, (title, _) in CELL_KINDS.items() if show not in left_out}

    def cells(self, cell_filter: CellFilter) -> Cells:
        """Return the cells of a filter, to be listed."""
        names = None if self.rubric.has_order else self.names
        return Cells(*self._pairs(), cell_filter, self.eta, self.levels, names)

    def count(self, cell_filter: CellFilter) -> int:
        """Count the cells of a filter, from the grouped counts."""
        return int(self._groups["n"][self._fits(cell_filter)].sum())

    @cached_property
    def all(self) -> Numbers:
        return self._numbers("all", "", np.ones(len(self._groups), dtype=bool))

    @cached_property
    def matrix(self) -> IntArray:
        """Return cells by the grade of a (rows) and of b (columns), in the order of the levels."""
        rows = self._groups[self._both]
        index_of = {level: index for index, level in enumerate(self.levels)}
        counts = np.zeros((len(index_of), len(index_of)), dtype=np.int64)
        for row in rows:
            counts[index_of[int(row["a"])], index_of[int(row["b"])]] += row["n"]
        return counts

    @cached_property
    def topics(self) -> list[Numbers]:
        """Return counts by topic, those with the largest share of changed cells first."""
        return self._split("topic", self._topic_names)

    @cached_property
    def parts(self) -> list[Numbers]:
        """Return counts by kind of text and system, in the same order."""
        return self._split("part", dict(enumerate(self._part_names)))

    def _split(self, column: str, names: dict[int, str]) -> list[Numbers]:
        parts = [
            self._numbers(name, str(key) if column == "topic" else name, mask)
            for key, name in names.items()
            if (mask := self._groups[column] == key).any()
        ]
        return sorted(parts, key=lambda part: (-(part.share or -1.0), -part.n, part.name))

    def _numbers(self, name: str, key: str, mask: Mask) -> Numbers:
        rows = self._groups[mask & self._both]
        moved, n = rows["b"] - rows["a"], rows["n"]
        total = int(n.sum())
        return Numbers(
            name=name,
            key=key,
            n=total,
            n_changed=int(n[moved != 0].sum()),
            n_up=int(n[moved > 0].sum()),
            n_down=int(n[moved < 0].sum()),
            shift=float((moved * n).sum() / total) if total else None,
        )

    @property
    def _both(self) -> Mask:
        return np.asarray((self._groups["a"] >= 0) & (self._groups["b"] >= 0))

    def _fits(self, cell_filter: CellFilter) -> Mask:
        mask = cell_filter.fits(self._groups["a"], self._groups["b"], self.eta)
        if cell_filter.topic is not None:
            mask &= self._groups["topic"] == cell_filter.topic
        if cell_filter.part:
            names = self._part_names
            mask &= self._groups["part"] == (
                names.index(cell_filter.part) if cell_filter.part in names else -1
            )
        return mask

    @cached_property
    def _topic_names(self) -> dict[int, str]:
        return dict(self.dataset.topics.order_by("position").values_list("pk", "name"))

    @property
    def _groups(self) -> NDArray[np.void]:
        return self._counted[0]

    @property
    def _part_names(self) -> list[str]:
        return self._counted[1]

    @cached_property
    def _counted(self) -> tuple[NDArray[np.void], list[str]]:
        """Count the cells of both sides by topic, kind of text and the two grades.

        Returns the counts, and the names of the kinds.
        """
        pairs, parameters = self._pairs()
        parts: dict[str, int] = {}
        rows = []
        for topic, kind, system, a, b, n in _fetched(pairs + _COUNT, parameters):
            part = f"{kind} {system}".strip()
            rows.append((topic, parts.setdefault(part, len(parts)), a, b, n))
        return np.array(rows, dtype=GROUP), list(parts)

    def _pairs(self) -> tuple[str, list[int]]:
        """Return the common table expressions of every query, and their parameters."""
        (condition_a, values_a), (condition_b, values_b) = self.a.where(), self.b.where()
        sql = BOTH_SIDES.format(a=condition_a, b=condition_b, absent=ABSENT, failed=FAILED)
        return sql, [self.dataset.pk, *values_a, self.dataset.pk, *values_b]


_COUNT = """
SELECT question.topic_id, text.kind, text.system, outcome_a, outcome_b, COUNT(*)
FROM pairs
JOIN annotation_text text ON text.id = pairs.text_id
JOIN annotation_subquestion question ON question.id = pairs.question_id
GROUP BY question.topic_id, text.kind, text.system, outcome_a, outcome_b
"""


def _fetched(sql: str, parameters: list[int]) -> Iterator[tuple[int, str, str, int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        while rows := cursor.fetchmany(CHUNK):
            yield from rows
