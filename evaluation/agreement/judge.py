"""A judge against people: the people are the truth, and answerable is the positive class."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement.threshold import AtEta, Scale, at_eta, has_sweep, sweep
from evaluation.data.measures import Measures
from evaluation.data.ratings import RatingMatrix
from evaluation.data.selection import Selection
from evaluation.stats.classes import Classes, class_scores
from evaluation.stats.clusters import level_sums
from evaluation.stats.cohen import Weights
from evaluation.stats.correlation import Correlation
from evaluation.stats.estimate import Estimate, FloatArray, IntArray, level_index
from evaluation.stats.pair_counts import PairCounts


@dataclass(frozen=True, eq=False, slots=True)
class SparseCounts:
    """Nonzero counts: 101 levels have 10,201 cells a topic, most of them 0."""

    shape: tuple[int, ...]
    cells: NDArray[np.int32]
    values: NDArray[np.int32]

    @classmethod
    def of(cls, counts: IntArray) -> SparseCounts:
        """Return the nonzero cells of an array."""
        cells = np.flatnonzero(counts)
        return cls(counts.shape, cells.astype(np.int32), counts.ravel()[cells].astype(np.int32))

    def dense(self) -> IntArray:
        """Return the array."""
        counts = np.zeros(math.prod(self.shape), dtype=np.int64)
        counts[self.cells] = self.values
        return counts.reshape(self.shape)


@dataclass(frozen=True)
class AgainstJudge(AtEta):
    """Grades of one rater, or pooled grades of several, against the judge's on the same pairs.

    The unit is a rating: two people on one pair are two. `n_without_judge` counts the ratings of
    pairs that the judge did not rate, which are in nothing else. `matrix` counts levels of the
    raters (rows) against those of the judge (columns); where the two grade on different scales,
    both are read as answerable or not, and `levels` is 0 and 1. `counts` is topics x levels of the people
    x levels of the judge, each on its scale in `scales`, and None where eta moves nothing. Where no grade
    says answerable, all statistics that depend on eta are undefined, and `accuracy` is the share of equal
    grades. Intervals: jackknife over topics.
    """

    name: str
    title: str
    n: int
    n_without_judge: int
    levels: tuple[int, ...]
    matrix: IntArray
    cohen_kappa: Estimate
    cohen_linear: Estimate
    cohen_quadratic: Estimate
    spearman: Correlation
    mean_distance: Estimate
    classes: Classes | None
    """The scores of the judge with the raters as the truth, where grades are names."""
    measures: Measures
    counts: SparseCounts | None
    scales: tuple[Scale, Scale]
    etas: tuple[int, ...]

    @property
    def depends_on_eta(self) -> bool:
        return self.counts is not None

    @cached_property
    def sweep(self) -> tuple[AtEta, ...]:
        """The scores at every eta; empty where eta moves nothing."""
        if self.counts is None:
            return ()
        return sweep(self.counts.dense(), *self.scales, self.etas, self.n_without_judge)

    @property
    def in_words(self) -> dict[str, Estimate]:
        """Statistics that need no eta, by their labels on the page."""
        estimates = {
            "Quadratic κ": ("cohen_quadratic", self.cohen_quadratic),
            "Linear κ": ("cohen_linear", self.cohen_linear),
            "κ": ("cohen_kappa", self.cohen_kappa),
            "Spearman": ("spearman", self.spearman),
            "Equal": ("accuracy", self.accuracy),
            "Macro F1": ("macro_f1", self.classes.macro.f1 if self.classes else self.accuracy),
        }
        return {
            label: estimate
            for label, (measure, estimate) in estimates.items()
            if measure in self.measures
        }


@dataclass(frozen=True)
class JudgeParts:
    """Judge against all raters pooled, against each rater, and on the texts of each system."""

    all: AgainstJudge
    by_rater: tuple[AgainstJudge, ...]
    by_system: tuple[AgainstJudge, ...]


def judge_parts(matrix: RatingMatrix) -> JudgeParts:
    """Compare the judge of the matrix's selection with its raters: each rating counts once."""
    judge, raters = matrix.selection.judge, matrix.selection.raters
    # A judge that was also chosen as a rater would agree with itself.
    chosen = [column for column, rater in enumerate(raters) if rater.pk != (judge and judge.pk)]
    columns, (people, graded) = matrix.level_columns, _level_scales(matrix)
    none = np.zeros(0, dtype=np.int64)
    item = np.concatenate([none, *(columns.rated[column] for column in chosen)])
    rater = np.repeat(chosen, [len(columns.rated[column]) for column in chosen]).astype(np.int64)
    human = columns.positions[item, rater]
    judged = level_index(matrix.judge, graded.levels)[item]

    def counted(groups: IntArray, n_groups: int) -> tuple[IntArray, IntArray]:
        """Count groups x topics x both sides' levels, and the ratings of groups x topics.

        `groups` has the group of each rating.
        """
        shape = (n_groups, columns.n_topics)
        by_topic = groups * columns.n_topics + columns.topic[item]
        n_ratings = np.bincount(by_topic, minlength=math.prod(shape)).reshape(shape)
        size = (len(people.levels), len(graded.levels))
        both = judged >= 0
        cells = (by_topic[both] * size[0] + human[both]) * size[1] + judged[both]
        counts = np.bincount(cells, minlength=math.prod((*shape, *size)))
        return counts.reshape(*shape, *size).astype(np.int64), n_ratings

    def compared(names: tuple[str, str], sums: IntArray, n_ratings: IntArray) -> AgainstJudge:
        # A topic without a rating of the group is none of its clusters.
        return _from_sums(matrix, names, sums[n_ratings > 0], int(n_ratings.sum()))

    sums, n_ratings = counted(rater, len(raters))
    by_system = counted(matrix.system_index[item], len(matrix.systems))
    return JudgeParts(
        all=compared(("all", "all"), sums.sum(axis=0), n_ratings.sum(axis=0)),
        by_rater=tuple(
            compared((raters[column].name, raters[column].title), sums[column], n_ratings[column])
            for column in chosen
        ),
        by_system=tuple(
            compared((name, name), *counts)
            for name, *counts in zip(matrix.systems, *by_system, strict=True)
        ),
    )


def _level_scales(matrix: RatingMatrix) -> tuple[Scale, Scale]:
    """Return `scales`, with the levels that a multi-label rubric was given."""
    if matrix.selection.rubric.is_multi_label:
        return Scale(matrix.levels, None), Scale(matrix.levels, None)
    return scales(matrix.selection)


def scales(selection: Selection) -> tuple[Scale, Scale]:
    """Return the scales on which raters and judge are dichotomised at an eta."""

    def scale(levels: tuple[int, ...], threshold: int) -> Scale:
        return Scale(levels, threshold if len(levels) == 2 else None)

    return (
        scale(selection.levels, selection.threshold),
        scale(tuple(selection.judge_rubric.grades()), selection.judge_threshold),
    )


def against(
    matrix: RatingMatrix, names: tuple[str, str], human: FloatArray, item: NDArray[np.intp]
) -> AgainstJudge:
    """Compare the judge of a matrix with ratings: grades `human`, each of the pair at `item`.

    `names` are the name and the title of the result.
    """
    people, graded = _level_scales(matrix)
    levels = (people.levels, graded.levels)
    sums = level_sums(human, matrix.judge[item], levels, matrix.topic[item])
    return _from_sums(matrix, names, sums, len(human))


def _from_sums(
    matrix: RatingMatrix, names: tuple[str, str], sums: IntArray, n_ratings: int
) -> AgainstJudge:
    """Compare the judge with ratings by counts of both sides' levels.

    `sums` is topics x levels of the people x levels of the judge.
    """
    selection, (people, graded) = matrix.selection, _level_scales(matrix)
    measures, levels = selection.measures, tuple(people.levels)
    n = int(sums.sum())
    missing = n_ratings - n
    if selection.one_scale:
        counts = PairCounts(sums, levels, missing)
    else:
        levels = (0, 1)
        people_yes = np.array(people.levels) >= selection.threshold
        judge_yes = np.array(graded.levels) >= selection.judge_threshold
        binary_sums = (
            np.stack([~people_yes, people_yes]) @ sums @ np.stack([~judge_yes, judge_yes]).T
        )
        counts = PairCounts(binary_sums, levels, missing)
    if selection.eta is None:
        scores = without_eta(counts, measures)
    else:
        scores = at_eta(sums, people, graded, selection.eta, missing)

    def kappa(measure: str, weights: Weights = None) -> Estimate:
        return counts.kappa(weights) if measure in measures else measures.none(measure)

    distances = np.abs(np.subtract.outer(levels, levels))
    return AgainstJudge(
        **{field.name: getattr(scores, field.name) for field in fields(AtEta)},
        name=names[0],
        title=names[1],
        n=n,
        n_without_judge=missing,
        levels=levels,
        matrix=counts.matrix,
        cohen_kappa=kappa("cohen_kappa"),
        cohen_linear=kappa("cohen_linear", "linear"),
        cohen_quadratic=kappa("cohen_quadratic", "quadratic"),
        spearman=counts.spearman() if "spearman" in measures else measures.none("spearman"),
        mean_distance=counts.mean(distances).within(0, max(levels) - min(levels))
        if "mean_distance" in measures
        else measures.none("mean_distance"),
        classes=class_scores(sums, levels, missing) if "classes" in measures else None,
        measures=measures,
        counts=SparseCounts.of(sums) if has_sweep(people, graded, selection.etas) else None,
        scales=(people, graded),
        etas=selection.etas,
    )


def without_eta(counts: PairCounts, measures: Measures) -> AtEta:
    """Return undefined scores at eta, with the accuracy alone, where no grade says answerable."""
    none = measures.none("prevalence")
    undefined = {
        field.name: none for field in fields(AtEta) if field.name not in ("eta", "confusion")
    }
    return AtEta(eta=None, confusion=None, **undefined | {"accuracy": counts.percent()})
