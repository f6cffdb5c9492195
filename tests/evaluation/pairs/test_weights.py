"""Distances of grades from counts of levels are those of every two grades."""

from itertools import combinations

import numpy as np
import pytest

from annotation.models import Rating
from evaluation.data.ratings import load
from evaluation.data.selection import select
from evaluation.pairs.weights import grade_distance
from tests.toolbox.random_ratings import make_random_ratings


@pytest.mark.parametrize("judge", ["", "judge"])
@pytest.mark.parametrize("rubric", ["graded", "answerable"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("one_scale", [True, False])
def test_mean_distance_of_every_two_grades(db, seed, rubric, judge, one_scale):
    dataset = make_random_ratings(seed)
    if not one_scale:
        Rating.objects.filter(rater__name="judge", rubric__slug="answerable").delete()
    raters = ["ann", "everywhere", "cay"]
    selection = select(dataset, rubric=rubric, raters=raters, judge=judge, eta=3)
    matrix = load(selection)
    highest = selection.levels[-1]
    expected = []
    for grades, by_judge in zip(matrix.grades, matrix.judge, strict=True):
        scaled = [grade / highest for grade in grades]
        if judge and selection.one_scale:
            scaled.append(by_judge / highest)
        elif judge:
            scaled.append(np.nan if np.isnan(by_judge) else float(by_judge >= 3))
        existing = [grade for grade in scaled if not np.isnan(grade)]
        distances = [abs(a - b) for a, b in combinations(existing, 2)]
        expected.append(np.mean(distances) if distances else np.nan)
    assert len(expected) > 5
    assert grade_distance(matrix) == pytest.approx(expected, nan_ok=True, abs=1e-12)
