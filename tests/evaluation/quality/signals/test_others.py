import numpy as np
import pytest

from evaluation.quality.signals.agreement import (
    kappa,
    pairwise_confusions,
    percent,
    pooled_confusions,
)
from evaluation.stats.cohen import cohen_kappa


def table(*rows):
    """Raters x pairs of grades, None missing, as one row per answer."""
    answers = [
        (rater, pair, level)
        for rater, row in enumerate(rows)
        for pair, level in enumerate(row)
        if level is not None
    ]
    return [np.array(column, dtype=np.int64) for column in zip(*answers, strict=True)]


def test_kappa_of_two_raters_is_cohens():
    a, b = [0, 0, 1, 1, 1, None], [0, 1, 1, 1, None, 0]
    matrices = pooled_confusions(*table(a, b), n_raters=2, n_levels=2, cut=1)
    expected = cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1], [0, 1])
    for matrix in matrices.pooled:
        value = kappa(matrix, np.array([0, 1]))
        assert (value.value, value.n) == (pytest.approx(expected.value), 4)
        assert percent(matrix).value == 0.75


def test_pooled_over_two_others_by_hand():
    # a: 0 1; b: 0 1; c: 1 1. Of a against b and c: 00, 01, 11, 11.
    matrices = pooled_confusions(*table([0, 1], [0, 1], [1, 1]), n_raters=3, n_levels=2, cut=1)
    assert matrices.pooled[0].tolist() == [[1, 1], [0, 2]]
    assert matrices.pooled[2].tolist() == [[0, 0], [2, 2]]


def test_majority_takes_two_others_and_no_tie():
    # On the first pair b and c say 0, 0; on the second 0, 1, which is a tie; on the third b alone.
    matrices = pooled_confusions(
        *table([1, 1, 1], [0, 0, 1], [0, 1, None]), n_raters=3, n_levels=2, cut=1
    )
    assert matrices.majority[0].tolist() == [[0, 0], [1, 0]]


def test_majority_is_of_sides_of_eta():
    # Grades 3 and 5 are both on the upper side, 4 with them.
    matrices = pooled_confusions(*table([4], [3], [5]), n_raters=3, n_levels=6, cut=3)
    assert matrices.majority[0].tolist() == [[0, 0], [0, 1]]


def test_confusion_with_each_other_rater():
    columns = table([0, 1, 1], [0, 0, None], [None, None, 1])
    matrices = pairwise_confusions(*columns, n_raters=3, n_levels=2, index=0)
    assert matrices[0].sum() == 0
    assert matrices[1].tolist() == [[1, 0], [1, 0]]
    assert matrices[2].tolist() == [[0, 0], [0, 1]]


def test_alone_and_of_one_grade_are_undefined():
    nothing = np.zeros((2, 2), dtype=np.int64)
    assert "nobody else" in kappa(nothing, np.array([0, 1])).reason
    assert percent(nothing).value is None
    assert "one category" in kappa(np.array([[5, 0], [0, 0]]), np.array([0, 1])).reason


def test_confusions_of_no_answers_are_zero():
    nothing = np.empty(0, dtype=np.int64)
    assert pooled_confusions(nothing, nothing, nothing, 2, 2, 1).pooled.sum() == 0
    assert pairwise_confusions(nothing, nothing, nothing, 2, 2, 0).sum() == 0
    with pytest.raises(ValueError, match="one rater, pair and level"):
        pooled_confusions(nothing, nothing, np.array([1]), 2, 2, 1)


def test_without_an_eta_the_majority_is_of_each_level():
    # Two others say 2 to the first pair, 0 and 2 to the second: of that there is no majority.
    matrices = pooled_confusions(*table([1, 2], [2, 0], [2, 2]), n_raters=3, n_levels=3, cut=None)
    assert matrices.majority[0].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert matrices.majority[1].sum() == 1  # pair 2: the others both say 2
