"""Two judges, or two runs, cell by cell: what one says and the other does not.

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
from judging.compare.cells import ABSENT, BOTH_SIDES, FAILED, SHOWS, Cells, IntArray, Mask, Wanted
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
    """One of the two: the attempts of a judge that count, or all attempts of a run."""

    judge: Judge
    run: JudgeRun | None = None

    @property
    def title(self) -> str:
        return f"run {self.run.pk} of {self.judge.title}" if self.run else self.judge.title

    def where(self) -> tuple[str, list[int]]:
        """Which attempts, as a condition on `attempt` and `batch`."""
        if self.run:
            return "batch.run_id = %s", [self.run.pk]
        return "attempt.judge_id = %s AND attempt.counts", [self.judge.pk]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The cells that both sides graded, of one part or of all.

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
        """Of the cells graded by both, those with another grade."""
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
        """What each grade is called."""
        now = self.rubric.names()
        return {level: now.get(level, str(level)) for level in self.levels}

    @property
    def shows(self) -> dict[str, str]:
        """What a list can show under the rubric, with its title: names are neither higher nor lower."""
        left_out = [] if self.rubric.has_order else ["up", "down"]
        left_out += [] if self.rubric.has_threshold else ["crossed", "crossed-up", "crossed-down"]
        return {show: words for show, (words, _) in SHOWS.items() if show not in left_out}

    def cells(self, wanted: Wanted) -> Cells:
        """The cells of a filter, to be listed."""
        names = None if self.rubric.has_order else self.names
        return Cells(*self._pairs(), wanted, self.eta, self.levels, names)

    def count(self, wanted: Wanted) -> int:
        """How many cells a filter has, from the numbers that are here."""
        return int(self._groups["n"][self._fits(wanted)].sum())

    @cached_property
    def all(self) -> Numbers:
        return self._numbers("all", "", np.ones(len(self._groups), dtype=bool))

    @cached_property
    def matrix(self) -> IntArray:
        """Cells by the grade of a (rows) and that of b (columns), in the order of the levels."""
        rows = self._groups[self._both]
        index_of = {level: place for place, level in enumerate(self.levels)}
        counts = np.zeros((len(index_of), len(index_of)), dtype=np.int64)
        for row in rows:
            counts[index_of[int(row["a"])], index_of[int(row["b"])]] += row["n"]
        return counts

    @cached_property
    def topics(self) -> list[Numbers]:
        """By topic, those with the largest share of changed cells first."""
        return self._split("topic", self._topic_names)

    @cached_property
    def parts(self) -> list[Numbers]:
        """By kind of text and system, likewise."""
        return self._split("part", dict(enumerate(self._part_names)))

    def _split(self, column: str, names: dict[int, str]) -> list[Numbers]:
        parts = [
            self._numbers(name, str(key) if column == "topic" else name, here)
            for key, name in names.items()
            if (here := self._groups[column] == key).any()
        ]
        return sorted(parts, key=lambda part: (-(part.share or -1.0), -part.n, part.name))

    def _numbers(self, name: str, key: str, here: Mask) -> Numbers:
        rows = self._groups[here & self._both]
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

    def _fits(self, wanted: Wanted) -> Mask:
        here = wanted.fits(self._groups["a"], self._groups["b"], self.eta)
        if wanted.topic is not None:
            here &= self._groups["topic"] == wanted.topic
        if wanted.part:
            names = self._part_names
            here &= self._groups["part"] == (
                names.index(wanted.part) if wanted.part in names else -1
            )
        return here

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
        """The cells of both sides by topic, kind of text and the two grades; and the names of kinds."""
        pairs, parameters = self._pairs()
        parts: dict[str, int] = {}
        rows = []
        for topic, kind, system, a, b, n in _fetched(pairs + _COUNT, parameters):
            part = f"{kind} {system}".strip()
            rows.append((topic, parts.setdefault(part, len(parts)), a, b, n))
        return np.array(rows, dtype=GROUP), list(parts)

    def _pairs(self) -> tuple[str, list[int]]:
        """The beginning of every query: `pairs`, with the attempts of both sides side by side."""
        (where_a, of_a), (where_b, of_b) = self.a.where(), self.b.where()
        sql = BOTH_SIDES.format(a=where_a, b=where_b, absent=ABSENT, failed=FAILED)
        return sql, [self.dataset.pk, *of_a, self.dataset.pk, *of_b]


_COUNT = """
SELECT question.topic_id, text.kind, text.system, said_a, said_b, COUNT(*)
FROM pairs
JOIN annotation_text text ON text.id = pairs.text_id
JOIN annotation_subquestion question ON question.id = pairs.question_id
GROUP BY question.topic_id, text.kind, text.system, said_a, said_b
"""


def _fetched(sql: str, parameters: list[int]) -> Iterator[tuple[int, str, str, int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        while rows := cursor.fetchmany(CHUNK):
            yield from rows
