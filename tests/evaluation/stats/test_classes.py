"""Scores of each level, against hand-worked values and scikit-learn's."""

import numpy as np
import pytest

from evaluation.stats.classes import class_scores

# Two topics; rows are the truth.
SUMS = [[[2, 1, 0], [0, 1, 0], [0, 0, 0]], [[1, 0, 0], [1, 3, 0], [0, 0, 0]]]


def test_by_hand():
    classes = class_scores(SUMS, (0, 1, 2), missing=4)
    # In all [[3, 1, 0], [1, 4, 0], [0, 0, 0]]: level 0 precision 3/4, recall 3/4; level 1 4/5, 4/5.
    first, second, unused = classes.scores
    assert (first.precision.value, first.recall.value, first.f1.value) == (0.75, 0.75, 0.75)
    assert (second.precision.value, second.f1.value) == (0.8, 0.8)
    assert (first.f1.n, first.f1.missing) == (5, 4)  # 4 + 4 givings, 3 of them of both
    assert unused.f1.reason == "undefined, because neither side gave this level"
    assert (classes.macro.f1.value, classes.macro.f1.n, classes.macro.f1.missing) == (
        pytest.approx(0.775),
        2,
        1,
    )
    assert (classes.accuracy.value, classes.accuracy.n) == (pytest.approx(7 / 9), 9)
    # Without a topic: 4/5 and 3/4, whose t interval of one degree of freedom is wide.
    assert classes.accuracy.low is not None


def test_as_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    draw = np.random.default_rng(7)
    truth, predicted = draw.integers(0, 4, 200), draw.integers(0, 4, 200)
    sums = np.zeros((1, 4, 4), dtype=int)
    np.add.at(sums[0], (truth, predicted), 1)
    classes = class_scores(sums, range(4))
    right = metrics.precision_recall_fscore_support(truth, predicted, average="macro")
    scores = [classes.macro.precision.value, classes.macro.recall.value, classes.macro.f1.value]
    assert scores == pytest.approx(right[:3])


def test_turned_changes_precision_and_recall():
    classes = class_scores(SUMS, (0, 1, 2))
    assert classes.turned.scores[0].recall == classes.scores[0].precision
    assert classes.turned.matrix.tolist() == classes.matrix.T.tolist()


def test_refuses_sums_that_do_not_fit():
    with pytest.raises(ValueError, match="topics x 2 x 2"):
        class_scores(SUMS, (0, 1))
