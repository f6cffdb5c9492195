"""Details of one rater of a campaign: agreement with each other, by day, and by item."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import numpy as np

from annotation.models import Answer, ItemQuestion
from evaluation.data.answers import AssignmentRow, ItemRow
from evaluation.page_tables import SortValue
from evaluation.quality.page import QualityReport
from evaluation.quality.signals.agreement import kappa, pairwise_confusions, percent
from evaluation.stats.estimate import Estimate, IntArray

SHADES = 5  # number of the darkest shade of a grade


@dataclass(frozen=True, slots=True)
class Partner:
    """Another rater, with n pairs answered by both."""

    name: str
    equal: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Cell:
    """Displayed grade; None where the question has no answer."""

    grade: int | None
    shade: int | None = 0
    """None where grades are names: none is above another."""
    expected: int | None = None


@dataclass(frozen=True, slots=True)
class ItemDone:
    """Item assigned to the rater, and the answers to its questions in their order."""

    item: ItemRow
    assignment: AssignmentRow
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """Counts of valid answers on a day (UTC), by grade from the lowest."""

    day: str
    counts: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.counts)


def partners(report: QualityReport, index: int) -> list[Partner]:
    """Return the raters with common pairs, those with most first."""
    answers = report.answers
    names = list(answers.names.values())
    matrices = pairwise_confusions(
        report.rater, report.pair, report.level, len(names), len(answers.levels), index
    )
    rows = [
        Partner(name, percent(matrix), kappa(matrix, answers.levels, report.weights))
        for name, matrix in zip(names, matrices, strict=True)
        if matrix.any()
    ]
    return sorted(rows, key=lambda partner: (-partner.equal.n, partner.name))


def confusion(report: QualityReport, index: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return this rater's grades (rows) against all others': each cell a count and its shade."""
    matrix = report.confusions.pooled[index]
    largest = max(int(matrix.max()), 1)
    return [
        (int(level), [(count, -(-SHADES * count // largest)) for count in row])
        for level, row in zip(report.answers.levels, matrix.tolist(), strict=True)
    ]


def days(report: QualityReport, rater: int) -> list[Day]:
    """Return the rater's grade counts by day, the first day first."""
    mine = Answer.objects.filter(
        assignment__participant__campaign=report.campaign,
        assignment__participant__rater=rater,
        assignment__repeats=None,
        question__isnull=False,
        rubric=None,
    )
    newest = {
        (assignment, question): (grade, created.date())
        for assignment, question, grade, created in mine.order_by("-late", "pk").values_list(
            "assignment_id", "question_id", "grade", "created"
        )
    }
    by_day: dict[date, Counter[int]] = defaultdict(Counter)
    for grade, day in newest.values():
        if grade is not None:
            by_day[day][grade] += 1
    levels: list[int] = report.answers.levels.tolist()
    return [
        Day(str(day), tuple(counts[level] for level in levels))
        for day, counts in sorted(by_day.items())
    ]


def assigned_to(report: QualityReport, rater: int) -> list[int]:
    """Return the indexes of a rater's assignments in order of their first answer.

    Those without an answer come last.
    """
    answers = report.answers
    began: dict[int, int] = {}
    for answer_index in np.flatnonzero(answers.rater == rater).tolist():
        began.setdefault(int(answers.assignment[answer_index]), answer_index)
    mine = [position for position, row in enumerate(answers.assignments) if row.rater == rater]
    return sorted(
        mine, key=lambda position: (began.get(position, len(answers.assignment)), position)
    )


def assignment_values(report: QualityReport) -> dict[str, Callable[[int], SortValue]]:
    """Return the values by which a rater's assignments are sorted, from their indexes."""
    answers = report.answers

    def item(position: int) -> ItemRow:
        return answers.items[answers.assignments[position].item]

    return {
        "item": lambda position: item(position).title,
        "kind": lambda position: item(position).purpose,
        "state": lambda position: answers.assignments[position].state,
        "time": lambda position: answers.assignments[position].active_ms or None,
        "note": lambda position: answers.assignments[position].note or None,
    }


def items_done(report: QualityReport, positions: list[int]) -> list[ItemDone]:
    """Return these assignments with the grades given: one query."""
    answers = report.answers
    rows = [answers.assignments[position] for position in positions]
    questions: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
    for item, question, expected in (
        ItemQuestion.objects.filter(item__in={row.item for row in rows})
        .order_by("item_id", "position")
        .values_list("item_id", "question_id", "expected")
    ):
        questions[item].append((question, expected))
    selected = np.isin(answers.assignment, positions)
    grades = dict(
        zip(
            zip(
                answers.assignment[selected].tolist(),
                answers.question[selected].tolist(),
                strict=True,
            ),
            answers.grade[selected].tolist(),
            strict=True,
        )
    )
    has_order = report.campaign.rubric.has_order
    return [
        ItemDone(
            item=answers.items[row.item],
            assignment=row,
            cells=tuple(
                cell(grades.get((position, question)), answers.levels, expected, has_order)
                for question, expected in questions[row.item]
            ),
        )
        for position, row in zip(positions, rows, strict=True)
    ]


def cell(
    grade: int | None, levels: IntArray, expected: int | None = None, has_order: bool = True
) -> Cell:
    """Return a grade with the shade of its place on the scale; names have none."""
    if grade is None:
        return Cell(None, expected=expected)
    if not has_order:
        return Cell(grade, None, expected)
    level_index = int(np.searchsorted(levels, grade))
    return Cell(grade, round(SHADES * level_index / max(len(levels) - 1, 1)), expected)
