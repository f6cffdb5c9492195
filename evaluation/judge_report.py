"""A judge against people: the people are the truth, and answerable is the positive class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement.cohen import NO_PAIR
from evaluation.agreement.confusion import (
    Confusion,
    confusion_at_eta,
    confusion_from_cells,
    item_cells,
    level_matrix,
)
from evaluation.agreement.correlation import Correlation, spearman
from evaluation.agreement.estimate import Estimate, FloatArray, IntArray
from evaluation.agreement.jackknife import jackknife_interval
from evaluation.clusters import binary, kappa_over_topics, share, without_each_topic
from evaluation.matrices import RatingMatrix


@dataclass(frozen=True)
class AgainstJudge:
    """One rater's grades, or several raters' pooled, against the judge's grades of the same pairs.

    The unit is a rating: two people on one pair are two. `n_without_judge` counts the ratings of
    pairs that the judge did not rate, which are in nothing else. `matrix` counts levels of the
    raters (rows) against those of the judge (columns); where the two grade on different scales,
    both are read as answerable or not, and `levels` is 0 and 1. Intervals: jackknife over topics.
    """

    name: str
    title: str
    n: int
    n_without_judge: int
    confusion: Confusion
    levels: tuple[int, ...]
    matrix: IntArray
    precision_answerable: Estimate
    recall_answerable: Estimate
    precision_unanswerable: Estimate
    recall_unanswerable: Estimate
    accuracy: Estimate
    cohen_binary: Estimate
    cohen_quadratic: Estimate
    spearman: Correlation
    mean_distance: Estimate


@dataclass(frozen=True)
class JudgeParts:
    """The judge against all raters pooled, against each, and on the texts of each system."""

    all: AgainstJudge
    by_rater: tuple[AgainstJudge, ...]
    by_system: tuple[AgainstJudge, ...]


def judge_parts(matrix: RatingMatrix) -> JudgeParts:
    """The judge of the matrix's selection against its raters: every rating counts once."""
    judge, raters = matrix.selection.judge, matrix.selection.raters
    # A judge that was also chosen as a rater would agree with itself.
    columns = [at for at, rater in enumerate(raters) if rater.pk != (judge and judge.pk)]
    item, column = np.nonzero(~np.isnan(matrix.grades[:, columns]))
    human = matrix.grades[:, columns][item, column]
    rater = np.array(columns, dtype=np.int64)[column]
    system = matrix.system[item]

    def part(name: str, here: NDArray[np.bool_], title: str = "") -> AgainstJudge:
        return _against(matrix, (name, title or name), human[here], item[here])

    return JudgeParts(
        all=part("all", np.ones(len(item), dtype=bool)),
        by_rater=tuple(part(raters[at].name, rater == at, raters[at].title) for at in columns),
        by_system=tuple(part(name, system == name) for name in matrix.systems),
    )


def _against(
    matrix: RatingMatrix, names: tuple[str, str], human: FloatArray, item: NDArray[np.intp]
) -> AgainstJudge:
    selection, topics, judge = matrix.selection, matrix.topic[item], matrix.judge[item]
    levels, eta = selection.levels, selection.threshold
    if not selection.one_scale:
        human, judge = binary(human, eta), binary(judge, selection.judge_threshold)
        levels, eta = (0, 1), 1
    cells = item_cells(human, judge, eta)
    confusion = confusion_at_eta(human, judge, eta)
    without = [confusion_from_cells(row) for row in without_each_topic(cells, topics)]

    def at_eta(score: Callable[[Confusion], Estimate]) -> Estimate:
        values = [score(found).value for found in without]
        return jackknife_interval(
            score(confusion), [np.nan if value is None else value for value in values]
        )

    return AgainstJudge(
        name=names[0],
        title=names[1],
        n=confusion.n,
        n_without_judge=confusion.missing,
        confusion=confusion,
        levels=tuple(levels),
        matrix=level_matrix(human, judge, levels),
        precision_answerable=at_eta(lambda found: found.answerable.precision),
        recall_answerable=at_eta(lambda found: found.answerable.recall),
        precision_unanswerable=at_eta(lambda found: found.unanswerable.precision),
        recall_unanswerable=at_eta(lambda found: found.unanswerable.recall),
        accuracy=at_eta(lambda found: found.accuracy),
        cohen_binary=kappa_over_topics(binary(human, eta), binary(judge, eta), (0, 1), topics),
        cohen_quadratic=kappa_over_topics(human, judge, levels, topics, "quadratic"),
        spearman=spearman(human, judge),
        mean_distance=share(np.abs(human - judge), ~np.isnan(judge), topics, NO_PAIR),
    )
