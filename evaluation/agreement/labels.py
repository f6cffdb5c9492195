"""Agreement on each label of a multi-label rubric: of whether it applies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models.rubric import grade_of_label
from evaluation.agreement.parts import NO_RATINGS
from evaluation.data.ratings import RatingMatrix
from evaluation.stats import fleiss
from evaluation.stats.clusters import leave_one_topic_out_sums, ratio, share
from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.jackknife import jackknife_interval

NO_LABEL = "none"


@dataclass(frozen=True, slots=True)
class LabelRow:
    """Agreement of all raters on one label, as on a question of yes and no.

    `number` is that of the label, 0 for "none of them". `prevalence` is the share of ratings with the
    label, each item counting once; `kappa` is Fleiss'. Intervals: jackknife over topics.
    """

    number: int
    name: str
    n_chosen: int
    prevalence: Estimate
    kappa: Estimate
    ac1: Estimate
    percent: Estimate


def label_rows(matrix: RatingMatrix) -> tuple[LabelRow, ...]:
    """Return a row for each label in order, and one for none; empty for another rubric."""
    rubric = matrix.selection.rubric
    if not rubric.is_multi_label:
        return ()
    sets = np.nan_to_num(matrix.grades).astype(np.int64)
    missing = np.isnan(matrix.grades)
    labels = sorted(rubric.levels.all(), key=lambda level: level.grade)
    choices = [
        (level.grade, level.name or level.label, sets & grade_of_label(level.grade) > 0)
        for level in labels
    ]
    return tuple(
        _row(matrix, number, name, np.where(missing, np.nan, chosen))
        for number, name, chosen in [*choices, (0, NO_LABEL, sets == 0)]
    )


def _row(matrix: RatingMatrix, number: int, name: str, chosen: FloatArray) -> LabelRow:
    """Return the row of one label. `chosen` is items x raters: 0 or 1, NaN = no rating."""
    tallies = fleiss.counts(chosen, np.array([0, 1]))
    terms = fleiss.item_terms(tallies)
    deleted = leave_one_topic_out_sums(terms, matrix.topic)
    kappa, ac1 = fleiss.fleiss_kappa(tallies), fleiss.gwet_ac1(tallies)
    percent = fleiss.percent_agreement(tallies)
    return LabelRow(
        number=number,
        name=name,
        n_chosen=int(np.nansum(chosen)),
        # The terms of an item: share of agreeing pairs, has pairs, has ratings, share of each level.
        prevalence=share(terms[:, 4], terms[:, 2], matrix.topic, NO_RATINGS),
        kappa=jackknife_interval(kappa, fleiss.kappa_from_sums(deleted)).within(-1, 1),
        ac1=jackknife_interval(ac1, fleiss.ac1_from_sums(deleted)).within(-1, 1),
        percent=jackknife_interval(percent, ratio(deleted[:, 0], deleted[:, 1])).within(0, 1),
    )
