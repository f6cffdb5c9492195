"""One rater of a campaign, closely: against each of the others, by day, and item by item."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date

import numpy as np

from annotation.models import Answer, ItemQuestion
from evaluation.data.answers import AssignmentRow, ItemRow
from evaluation.quality.page import QualityReport
from evaluation.quality.signals.others import kappa, percent, with_each
from evaluation.stats.estimate import Estimate, IntArray

SHADES = 5  # the deepest of the shades that grades are printed on


@dataclass(frozen=True, slots=True)
class Partner:
    """Another rater, with n pairs answered by both."""

    name: str
    equal: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Cell:
    """A grade as it is printed; None where the question has no answer."""

    grade: int | None
    shade: int | None = 0
    """None where grades are names: none is above another."""
    expected: int | None = None


@dataclass(frozen=True, slots=True)
class ItemDone:
    """An item in the rater's hands, and the answers to its questions in their order."""

    item: ItemRow
    assignment: AssignmentRow
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """How many answers that stand were given on a day (UTC), by grade from the lowest."""

    day: str
    counts: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.counts)


def partners(report: QualityReport, place: int) -> list[Partner]:
    """The others with whom this rater has pairs in common: those with most first."""
    answers = report.answers
    names = list(answers.names.values())
    each = with_each(
        report.rater, report.pair, report.level, len(names), len(answers.levels), place
    )
    others = [
        Partner(name, percent(matrix), kappa(matrix, answers.levels, report.weights))
        for name, matrix in zip(names, each, strict=True)
        if matrix.any()
    ]
    return sorted(others, key=lambda partner: (-partner.equal.n, partner.name))


def confusion(report: QualityReport, place: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """This rater's grades (rows) against everybody else's: each cell a count and its shade."""
    matrix = report.others.pooled[place]
    most = max(int(matrix.max()), 1)
    return [
        (int(level), [(count, -(-SHADES * count // most)) for count in row])
        for level, row in zip(report.answers.levels, matrix.tolist(), strict=True)
    ]


def days(report: QualityReport, rater: int) -> list[Day]:
    """The rater's labels over time, the first day first."""
    mine = Answer.objects.filter(
        assignment__participant__campaign=report.campaign,
        assignment__participant__rater=rater,
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
    """The places of a rater's items, in the order in which they were begun; untouched ones last."""
    answers = report.answers
    began: dict[int, int] = {}
    for position in np.flatnonzero(answers.rater == rater).tolist():
        began.setdefault(int(answers.assignment[position]), position)
    mine = [place for place, row in enumerate(answers.assignments) if row.rater == rater]
    return sorted(mine, key=lambda place: (began.get(place, len(answers.assignment)), place))


def items_done(report: QualityReport, places: list[int]) -> list[ItemDone]:
    """These items with the grades given: one query."""
    answers = report.answers
    rows = [answers.assignments[place] for place in places]
    asked: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
    for item, question, expected in (
        ItemQuestion.objects.filter(item__in={row.item for row in rows})
        .order_by("item_id", "position")
        .values_list("item_id", "question_id", "expected")
    ):
        asked[item].append((question, expected))
    wanted = np.isin(answers.assignment, places)
    grades = dict(
        zip(
            zip(
                answers.assignment[wanted].tolist(), answers.question[wanted].tolist(), strict=True
            ),
            answers.grade[wanted].tolist(),
            strict=True,
        )
    )
    has_order = report.campaign.rubric.has_order
    return [
        ItemDone(
            item=answers.items[row.item],
            assignment=row,
            cells=tuple(
                cell(grades.get((place, question)), answers.levels, expected, has_order)
                for question, expected in asked[row.item]
            ),
        )
        for place, row in zip(places, rows, strict=True)
    ]


def cell(
    grade: int | None, levels: IntArray, expected: int | None = None, has_order: bool = True
) -> Cell:
    """A grade with the shade of its place on the scale; names have none."""
    if grade is None:
        return Cell(None, expected=expected)
    if not has_order:
        return Cell(grade, None, expected)
    place = int(np.searchsorted(levels, grade))
    return Cell(grade, round(SHADES * place / max(len(levels) - 1, 1)), expected)
