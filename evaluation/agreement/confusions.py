"""Which side stands against which in a confusion: rater and majority, two raters, raters and judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.agreement.page import AgreementReport
from evaluation.data.selection import SelectionError, one_of
from evaluation.stats.classes import Classes
from evaluation.stats.confusion import ClassScores
from evaluation.stats.estimate import IntArray

MAJORITY = "majority of the others"
MOST = "most"  # in a URL, before the name of a rater: most of the others
ALL_RATERS = "all raters"


@dataclass(frozen=True)
class Sides:
    """The grades of one side, for the truth (rows), against another's (columns).

    `truth` is None for the majority of those other than `other`.
    """

    truth: str | None
    other: str
    matrix: IntArray
    classes: Classes | None

    def cells(self, levels: Sequence[int]) -> Iterator[tuple[int, int, int, float | None]]:
        """Each cell: the two grades, the count, and its share of its row, if that has any."""
        for true, row in zip(levels, self.matrix.tolist(), strict=True):
            for other, count in zip(levels, row, strict=True):
                yield true, other, count, count / sum(row) if sum(row) else None


@dataclass(frozen=True)
class ClassRow:
    """The scores of one level, between two sides."""

    truth: str
    other: str
    grade: int
    level: str
    scores: ClassScores


def raters_apart(report: AgreementReport) -> list[Sides]:
    """Every rater against the majority of the others, and every two raters who share items."""
    against = [
        Sides(None, row.rater.name, row.matrix, row.classes)
        for row in report.majority
        if row.levels == report.selection.levels
    ]
    return against + [
        Sides(pair.a.name, pair.b.name, pair.matrix, pair.classes) for pair in report.pairs
    ]


def sides_of(report: AgreementReport, other: str, truth: str) -> Sides | None:
    """The sides that an address asks for; the first without one, None where there are none.

    Two raters may be asked for in either order. Raises SelectionError for sides that are not there.
    """
    every = raters_apart(report)
    if not every or not other:
        return every[0] if every else None
    one_of("rater with a confusion, called", other, _names(every))
    if truth:
        one_of("rater with a confusion, called", truth, _names(every))
    for sides in every:
        if (sides.truth or "", sides.other) == (truth, other):
            return sides
        if sides.truth and (sides.other, sides.truth) == (truth, other):
            return turned(report, sides)
    raise SelectionError(f"{other} and {truth or 'a majority of others'} share no item.")


def turned(report: AgreementReport, sides: Sides) -> Sides:
    """The same with the other side for the truth; precision and recall change places."""
    assert sides.truth
    return Sides(sides.other, sides.truth, sides.matrix.T, sides.classes and sides.classes.turned)


def class_rows(report: AgreementReport) -> Iterator[ClassRow]:
    """The scores of every level between all sides that there are, the judge's last."""
    names = report.selection.names
    every = [
        (sides.truth or MAJORITY, sides.other, sides.classes) for sides in raters_apart(report)
    ]
    judge = report.selection.judge
    if judge:
        judged = ((part.name, part.classes) for part in report.judge_by_rater)
        every += [(name, judge.name, classes) for name, classes in judged]
        if report.judge:
            every.append((ALL_RATERS, judge.name, report.judge.classes))
    for truth, other, classes in every:
        if classes:
            for grade, scores in zip(classes.levels, classes.scores, strict=True):
                yield ClassRow(truth, other, grade, names[grade], scores)


def _names(every: list[Sides]) -> list[str]:
    return list(
        dict.fromkeys(name for sides in every for name in (sides.other, sides.truth) if name)
    )
