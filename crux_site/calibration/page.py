"""Calibration of a judge: its expected grades and probabilities against people's grades.

Expected grades belong to judging, people's grades to evaluation: only the site may import both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Sum

from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.ratings import RatingMatrix, load, ratings_under
from evaluation.data.selection import Selection
from evaluation.stats.calibration import Calibration, calibration
from evaluation.stats.clusters import binary
from evaluation.stats.estimate import Estimate, FloatArray
from judging.models import Attempt

TENTHS = np.linspace(0.0, 1.0, 11).tolist()
PROBABILITY, GRADE = "probability", "grade"
TITLES = {
    PROBABILITY: "Probability of answerable",
    GRADE: "Expected grade",
}


@dataclass(frozen=True)
class JudgeCalibration:
    """A judge against the raters of a selection; every rating counts once.

    `n_told` counts the pairs of the rated texts for which the judge told its probabilities. `curves`
    are by PROBABILITY where a grade of the rubric says answerable, and by GRADE where raters and judge
    grade on one scale of several levels; of names there is none.
    """

    n_told: int
    n_topics: int
    curves: dict[str, Calibration]

    @property
    def estimates(self) -> Iterator[tuple[str, str, Estimate]]:
        """Yield the curve, the name of the statistic, and the statistic."""
        for name, curve in self.curves.items():
            yield name, "expected_calibration_error", curve.error
            yield name, "expected_calibration_error_debiased", curve.debiased
            yield name, "brier_score" if name == PROBABILITY else "squared_error", curve.squared
            yield name, "bias", curve.bias


def judge_calibration(selection: Selection) -> JudgeCalibration:
    """Return the calibration of the selection's judge, cached until its inputs change."""
    assert selection.judge is not None
    # The data version covers ratings, not the expected grades of a judge.
    attempts = Attempt.objects.filter(
        judge__rater=selection.judge.pk, text__dataset=selection.dataset, counts=True
    )
    totals = attempts.aggregate(n=Count("expected_grade"), sum=Sum("expected_grade"))
    key = (CacheKey.CALIBRATION, selection.key, totals["n"], totals["sum"])
    return cached(selection.dataset, key, lambda: _calibration(selection))


def no_curve(selection: Selection, result: JudgeCalibration | None) -> str:
    """Return why there is no curve; empty if there is one."""
    if selection.judge is None or result is None:
        return "Choose a judge that has rated the same pairs as these raters."
    if not result.n_told:
        return (
            f"{selection.judge.title} has no probabilities for these texts, so calibration cannot be "
            "computed. A judge has probabilities if its setting “Request probabilities” is on."
        )
    if not result.curves:
        return (
            "Calibration needs ordered grades or grades with a threshold; this rubric has neither."
        )
    return ""


def _calibration(selection: Selection) -> JudgeCalibration:
    matrix = load(selection)
    probability, grade, n_told = _predictions(selection, matrix)
    assert selection.judge is not None
    columns = [
        column for column, rater in enumerate(selection.raters) if rater.pk != selection.judge.pk
    ]
    item, rater_index = np.nonzero(~np.isnan(matrix.grades[:, columns]))
    human, topics = matrix.grades[:, columns][item, rater_index], matrix.topic[item]
    curves: dict[str, Calibration] = {}
    if "prevalence" in selection.measures:
        answerable = binary(human, selection.threshold)
        curves[PROBABILITY] = calibration(probability[item], answerable, topics, TENTHS)
    if selection.one_scale and "mean_grade" in selection.measures:
        levels = np.array(selection.levels, dtype=np.float64)
        edges = [levels[0], *((levels[:-1] + levels[1:]) / 2), levels[-1]]
        curves[GRADE] = calibration(grade[item], human, topics, edges)
    return JudgeCalibration(n_told, len(matrix.topic_names), curves)


def _predictions(selection: Selection, matrix: RatingMatrix) -> tuple[FloatArray, FloatArray, int]:
    """Return P(answerable) and the expected grade by item, and the number of attempts.

    Shape of both: (n_items,), NaN where the judge gave none. Probabilities are normalized over the
    levels of the rubric: the rest of the mass is on tokens that are no grade.
    """
    assert selection.judge is not None
    rated = ratings_under(selection, [rater.pk for rater in selection.raters]).order_by()
    rows = list(
        Attempt.objects.filter(
            judge__rater=selection.judge.pk,
            judge__rubric=selection.judge_rubric,
            counts=True,
            state="graded",
            expected_grade__isnull=False,
            text__in=rated.values("text_id"),
        )
        .order_by()
        .values_list("text", "question", "probabilities", "expected_grade", "judge__levels")
    )
    probability, grade = np.full(matrix.n_items, np.nan), np.full(matrix.n_items, np.nan)
    keys = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
    items = matrix.places(keys[:, 0], keys[:, 1]).tolist() if rows else []
    for item, (_, _, shares, expected, levels) in zip(items, rows, strict=True):
        level_shares = [
            (level, share or 0.0) for (level, _), share in zip(levels, shares or (), strict=True)
        ]
        mass = sum(share for _, share in level_shares)
        if item >= 0 and mass > 0:
            yes = sum(share for level, share in level_shares if level >= selection.judge_threshold)
            probability[item], grade[item] = yes / mass, expected
    return probability, grade, len(rows)
