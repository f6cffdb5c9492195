"""Create committees and calibrated judges from ratings and the judges' expected grades.

Expected grades belong to judging, aggregates to evaluation: only the site may import both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluation.data.aggregates import StoredAggregate, make_aggregate, make_calibrated
from evaluation.data.columns import independent
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection, SelectionError
from evaluation.stats.aggregation import METHODS, Method
from evaluation.stats.estimate import FloatArray
from judging.models import Attempt, Judge

CALIBRATED = "calibrated"
ALL_METHODS = (*METHODS, CALIBRATED)


def create_aggregate(
    selection: Selection, method: str, *, seed: int = 0, name: str = ""
) -> StoredAggregate:
    """Create an aggregate of the selection's raters by one of ALL_METHODS.

    CALIBRATED takes one judge, and the people beside it, or all but adjudicators where none is named.
    Raises SelectionError where there is no such aggregate.
    """
    judges = Judge.objects.filter(rater__in=[rater.pk for rater in selection.raters])
    fingerprints = dict(judges.values_list("rater", "fingerprint"))
    if method == CALIBRATED:
        judge_raters = [rater for rater in selection.raters if not rater.is_person]
        if len(judge_raters) != 1:
            raise SelectionError(
                f"{CALIBRATED} takes one judge, and here there are {len(judge_raters)}."
            )
        people = tuple(rater for rater in selection.raters if rater.is_person)
        people = people or independent(selection.everyone)
        if not people:
            raise SelectionError(f"Nobody rated under {selection.rubric.slug} to learn from.")
        matrix = load(replace(selection, raters=(judge_raters[0],)))
        of_people = load(replace(selection, raters=people))
        return make_calibrated(
            matrix, of_people, expected_grades(matrix), name=name, fingerprints=fingerprints
        )
    matrix = load(selection)
    by_rule: Method = next(candidate for candidate in METHODS if candidate == method)
    expected = expected_grades(matrix) if method == "mean-expected" else None
    return make_aggregate(
        matrix, by_rule, seed=seed, name=name, expected=expected, fingerprints=fingerprints
    )


def expected_grades(matrix: RatingMatrix) -> FloatArray:
    """Return the expected grades of judges, items x raters; NaN where there is none."""
    column = {rater.pk: position for position, rater in enumerate(matrix.selection.raters)}
    rows = list(
        Attempt.objects.filter(
            judge__rater__in=column,
            judge__rubric=matrix.selection.rubric,
            text__dataset=matrix.selection.dataset,
            counts=True,
            state="graded",
            expected_grade__isnull=False,
        )
        .order_by()
        .values_list("text", "question", "judge__rater", "expected_grade")
    )
    expected = np.full(matrix.grades.shape, np.nan)
    if rows:
        text, question, rater, grade = (np.array(values) for values in zip(*rows, strict=True))
        item = matrix.places(text, question)
        is_in_matrix = item >= 0
        columns = np.array([column[pk] for pk in rater.tolist()])
        expected[item[is_in_matrix], columns[is_in_matrix]] = grade[is_in_matrix]
    return expected
