"""Agreement of all chosen raters: overall, by system, by topic and by slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.data.ratings import RatingMatrix
from evaluation.data.slices import grades_of_slice
from evaluation.stats import fleiss
from evaluation.stats.clusters import leave_one_out_sums, ratio
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

NO_RATINGS = "undefined, because there are no ratings"
# The reasons of an interval of one cluster, so that the wording is the same everywhere.
ONE_TOPIC = jackknife_interval(Estimate(0.0, None, 1), [0.0]).interval_reason
NO_VALUE = jackknife_interval(Estimate(None, "undefined", 0), [0.0]).interval_reason


@dataclass(frozen=True, slots=True)
class Part:
    """Agreement on all items, or on those of one system or topic.

    `n_missing` counts the cells of items x raters without a rating. `prevalence` is the share of
    "answerable", each item counting once; undefined where no grade says so. Intervals: jackknife
    over topics.
    """

    name: str
    n_items: int
    n_missing: int
    kappa: Estimate
    ac1: Estimate
    percent: Estimate
    prevalence: Estimate
    grade: int | None = None
    """The grade of the pairs of a slice."""

    @property
    def key(self) -> str | int:
        """The value of this part in a URL."""
        return self.name if self.grade is None else self.grade


def whole_part(matrix: RatingMatrix) -> Part:
    """Return the agreement on all items."""
    columns = matrix.level_columns
    return _part(matrix, "all", columns.topic_terms, matrix.n_items, int(columns.tallies.sum()))


def parts_by(matrix: RatingMatrix, groups: IntArray, names: Sequence[str]) -> tuple[Part, ...]:
    """Return the agreement on the items of each group, from sums over all groups and topics.

    `groups` is one per item: the place of its group in `names`, -1 for none.
    """
    columns = matrix.level_columns
    # Only cells with an item: of a thousand systems most may have a topic of their own.
    keys = np.where(groups < 0, len(names), groups) * columns.n_topics + columns.topic
    cells, index = np.unique(keys, return_inverse=True)
    n_items, n_ratings = np.bincount(index), np.bincount(index, columns.tallies.sum(axis=1))
    sums = [np.bincount(index, values) for values in columns.terms.T]
    terms = np.column_stack(sums).astype(np.float64, copy=False)
    ends = np.searchsorted(cells, np.arange(len(names) + 1) * columns.n_topics)
    return tuple(
        _part(matrix, name, terms[cell], int(n_items[cell].sum()), int(n_ratings[cell].sum()))
        for name, cell in zip(names, map(slice, ends, ends[1:]), strict=True)
    )


def _part(matrix: RatingMatrix, name: str, sums: FloatArray, n_items: int, n_ratings: int) -> Part:
    """Return the agreement on items by the sums of their terms: topics x terms."""
    measures = matrix.selection.measures
    whole, deleted = sums.sum(axis=0), leave_one_out_sums(sums)
    return Part(
        name=name,
        n_items=n_items,
        n_missing=n_items * matrix.grades.shape[1] - n_ratings,
        kappa=jackknife_interval(
            fleiss.kappa_estimate(whole, n_items), fleiss.kappa_from_sums(deleted)
        ).within(-1, 1),
        ac1=jackknife_interval(
            fleiss.ac1_estimate(whole, n_items), fleiss.ac1_from_sums(deleted)
        ).within(-1, 1)
        if "gwet_ac1" in measures
        else measures.none("gwet_ac1"),
        percent=jackknife_interval(
            fleiss.percent_estimate(whole, n_items), ratio(deleted[:, 0], deleted[:, 1])
        ).within(0, 1),
        prevalence=_prevalence(matrix, whole, deleted, n_items)
        if "prevalence" in measures
        else measures.none("prevalence"),
    )


def _prevalence(
    matrix: RatingMatrix, whole: FloatArray, deleted: FloatArray, n_items: int
) -> Estimate:
    n = int(whole[2])
    if not n:
        return Estimate(None, NO_RATINGS, 0, n_items)
    prevalence = Estimate(float(_answerable(matrix, whole)) / n, None, n, n_items - n)
    without_topics = ratio(_answerable(matrix, deleted), deleted[:, 2])
    return jackknife_interval(prevalence, without_topics).within(0, 1)


def topic_parts(matrix: RatingMatrix) -> tuple[Part, ...]:
    """Return the agreement on each topic, in the dataset's order, from sums over all topics.

    A topic is one cluster, so nothing has an interval.
    """
    if not matrix.n_items:
        return ()
    columns = matrix.level_columns
    sums, items = columns.topic_terms, np.bincount(columns.topic)
    yes = _answerable(matrix, sums)
    gaps = items * matrix.grades.shape[1] - np.bincount(columns.topic, columns.tallies.sum(axis=1))
    paired, rated = sums[:, 1], sums[:, 2]
    none = np.where(paired > 0, fleiss.ONE_CATEGORY, fleiss.NO_PAIR)
    kappa = _estimates(fleiss.kappa_from_sums(sums), none, paired, items)
    ac1: list[Estimate] = _estimates(fleiss.ac1_from_sums(sums), none, paired, items)
    percent = _estimates(ratio(sums[:, 0], paired), none, paired, items)
    no_ratings = np.full(len(sums), NO_RATINGS)
    prevalence: list[Estimate] = _estimates(ratio(yes, rated), no_ratings, rated, items)
    measures = matrix.selection.measures
    if "prevalence" not in measures:
        prevalence = [measures.none("prevalence") for _ in prevalence]
    if "gwet_ac1" not in measures:
        ac1 = [measures.none("gwet_ac1") for _ in ac1]
    # The sums are in the order of the topics' keys.
    row_of = {topic: row for row, topic in enumerate(np.unique(matrix.topic).tolist())}
    return tuple(
        Part(
            name,
            int(items[row_of[pk]]),
            int(gaps[row_of[pk]]),
            kappa[row_of[pk]],
            ac1[row_of[pk]],
            percent[row_of[pk]],
            prevalence[row_of[pk]],
        )
        for pk, name in matrix.topic_names.items()
    )


def slice_parts(matrix: RatingMatrix) -> tuple[Part, ...]:
    """Return the agreement on the items of each slice.

    A slice has the items to which the rater of the selection's `by` gave one grade.
    """
    by = matrix.selection.by
    if by is None:
        return ()
    names, slice_grades = by.rubric.names(), grades_of_slice(by, matrix)
    groups = np.full(matrix.n_items, -1)
    for group, grade in enumerate(names):
        groups[slice_grades == grade] = group
    return tuple(
        replace(part, grade=grade)
        for grade, part in zip(names, parts_by(matrix, groups, list(names.values())), strict=True)
    )


def unanimous(grades: FloatArray) -> Estimate:
    """Return the share of the items rated by all raters on which all of them agree."""
    full = ~np.isnan(grades).any(axis=1)
    n, missing = int(full.sum()), int((~full).sum())
    if n == 0 or grades.shape[1] < 2:
        return Estimate(None, "undefined, because no item was rated by all", n, missing)
    return Estimate(float((np.ptp(grades[full], axis=1) == 0).mean()), None, n, missing)


def _levels(matrix: RatingMatrix) -> IntArray:
    return np.array(matrix.levels, dtype=np.int64)


def _answerable(matrix: RatingMatrix, terms: FloatArray) -> FloatArray:
    """Return the share of an item's ratings that are answerable, from its terms or their sums."""
    # The terms of an item: share of agreeing pairs, has pairs, has ratings, share of each level.
    answers = np.flatnonzero(_levels(matrix) >= matrix.selection.threshold)
    return np.asarray(terms[..., 3 + answers].sum(axis=-1))


def _estimates(
    values: FloatArray, reasons: NDArray[np.str_], n: FloatArray, items: IntArray
) -> list[Estimate]:
    return [
        Estimate(None, reason, used, of - used, interval_reason=NO_VALUE)
        if np.isnan(value)
        else Estimate(value, None, used, of - used, interval_reason=ONE_TOPIC)
        for value, reason, used, of in zip(
            values.tolist(),
            reasons.tolist(),
            n.astype(int).tolist(),
            items.tolist(),
            strict=True,
        )
    ]
