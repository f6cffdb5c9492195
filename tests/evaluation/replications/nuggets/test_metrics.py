"""evaluation.replications.nuggets.metrics by hand."""

import numpy as np
import pytest

from evaluation.replications.nuggets.metrics import (
    NO_NUGGET,
    NO_VITAL,
    UNASSIGNED,
    UNWEIGHED,
    nugget_scores,
)

nan = np.nan


def values(support, importance, rules="paper"):
    return {
        name: (score.value, score.n, score.missing)
        for name, score in nugget_scores(support, importance, rules).items()
    }


def test_four_scores():
    # Vital: full, partial, none; okay: full, partial.
    assert values([2, 1, 0, 2, 1], [2, 2, 2, 1, 1]) == {
        "strict_vital": (1 / 3, 3, 0),
        "strict_all": (2 / 5, 5, 0),
        "vital": (1.5 / 3, 3, 0),
        "all": (3 / 5, 5, 0),
    }


def test_missing_assignment_is_counted_and_not_unsupported():
    # The second has no assignment, and of the last nobody said whether it is vital.
    assert values([2, nan, 0, 1], [2, 2, 2, nan]) == {
        "strict_vital": (1 / 2, 2, 2),
        "strict_all": (1 / 3, 3, 1),
        "vital": (1 / 2, 2, 2),
        "all": (1.5 / 3, 3, 1),
    }


@pytest.mark.parametrize(
    ("support", "importance", "reason_vital", "reason_all"),
    [
        ([], [], NO_NUGGET, NO_NUGGET),
        ([2, 0], [1, 1], NO_VITAL, None),
        ([2, 0], [nan, nan], UNWEIGHED, None),
        ([nan, nan], [2, 1], UNASSIGNED, UNASSIGNED),
    ],
)
def test_undefined_is_undefined(support, importance, reason_vital, reason_all):
    scores = nugget_scores(support, importance)
    assert {scores[name].reason for name in ("strict_vital", "vital")} == {reason_vital}
    assert {scores[name].reason for name in ("strict_all", "all")} == {reason_all}


def test_rules_of_the_authors_make_0_of_no_nugget_and_of_nothing_else():
    assert values([2, 0], [1, 1], "authors")["vital"] == (0.0, 0, 0)
    assert values([], [], "authors")["strict_all"] == (0.0, 0, 0)
    assert values([nan], [2], "authors")["vital"] == (None, 0, 1)
    assert values([2], [nan], "authors")["vital"] == (None, 0, 1)


@pytest.mark.parametrize(
    ("support", "importance"), [([1], [1, 2]), ([3], [1]), ([1], [0]), ([[1]], [[1]])]
)
def test_other_grades_are_refused(support, importance):
    with pytest.raises(ValueError, match=r"nugget|lists"):
        nugget_scores(support, importance)
