"""Confusion matrices of two sides: rater and majority, two raters, raters and judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.agreement.report import AgreementReport
from evaluation.data.selection import SelectionError, one_of
from evaluation.stats.classes import Classes
from evaluation.stats.confusion import ClassScores
from evaluation.stats.estimate import IntArray

MAJORITY = "majority of the others"
MAJORITY_PREFIX = "most"  # in a URL, before the name of a rater: most of the others
ALL_RATERS = "all raters"


@dataclass(frozen=True)
class ConfusionSides:
    """Confusion matrix of two sides: the reference (rows) against the other side (columns).

    `truth` is None for the majority of those other than `other`.
    """

    truth: str | None
    rater: str
    matrix: IntArray
    classes: Classes | None

    def cells(self, levels: Sequence[int]) -> Iterator[tuple[int, int, int, float | None]]:
        """Yield each cell: the two grades, the count, and its share of its row, if that has any."""
        for row_level, row in zip(levels, self.matrix.tolist(), strict=True):
            for column_level, count in zip(levels, row, strict=True):
                yield row_level, column_level, count, count / sum(row) if sum(row) else None


@dataclass(frozen=True)
class ClassRow:
    """Scores of one level, between two sides."""

    truth: str
    rater: str
    grade: int
    level: str
    scores: ClassScores


def rater_confusions(report: AgreementReport) -> list[ConfusionSides]:
    """Return the confusions of each rater with the majority, and of each pair of raters.

    A pair without a common item has none.
    """
    against = [
        ConfusionSides(None, row.rater.name, row.matrix, row.classes)
        for row in report.majority
        if row.levels == report.levels
    ]
    return against + [
        ConfusionSides(pair.a.name, pair.b.name, pair.matrix, pair.classes) for pair in report.pairs
    ]


def sides_of(report: AgreementReport, other: str, truth: str) -> ConfusionSides | None:
    """Return the confusion that a URL names, or the first if it names none; None without any.

    Two raters may be asked for in either order. Raises SelectionError for sides that are not there.
    """
    confusions = rater_confusions(report)
    if not confusions or not other:
        return confusions[0] if confusions else None
    one_of("rater with a confusion matrix called", other, _names(confusions))
    if truth:
        one_of("rater with a confusion matrix called", truth, _names(confusions))
    for sides in confusions:
        if (sides.truth or "", sides.rater) == (truth, other):
            return sides
        if sides.truth and (sides.rater, sides.truth) == (truth, other):
            return turned(report, sides)
    raise SelectionError(f"{other} and {truth or 'a majority of others'} share no item.")


def turned(report: AgreementReport, sides: ConfusionSides) -> ConfusionSides:
    """Swap reference and other side; precision and recall change places."""
    assert sides.truth
    return ConfusionSides(
        sides.rater, sides.truth, sides.matrix.T, sides.classes and sides.classes.turned
    )


def class_rows(report: AgreementReport) -> Iterator[ClassRow]:
    """Yield the scores of each level for each pair of sides, the judge's last."""
    names = report.selection.names
    confusions = [
        (sides.truth or MAJORITY, sides.rater, sides.classes) for sides in rater_confusions(report)
    ]
    judge = report.selection.judge
    if judge:
        judged = ((part.name, part.classes) for part in report.judge_by_rater)
        confusions += [(name, judge.name, classes) for name, classes in judged]
        if report.judge:
            confusions.append((ALL_RATERS, judge.name, report.judge.classes))
    for truth, other_rater, classes in confusions:
        if classes:
            for grade, scores in zip(classes.levels, classes.scores, strict=True):
                yield ClassRow(truth, other_rater, grade, names[grade], scores)


def _names(confusions: list[ConfusionSides]) -> list[str]:
    return list(
        dict.fromkeys(name for sides in confusions for name in (sides.rater, sides.truth) if name)
    )
