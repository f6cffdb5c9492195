import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from evaluation.stats.confusion import (
    confusion_at_eta,
    confusion_from_cells,
    item_cells,
    level_matrix,
)
from tests.evaluation.golden_cases import assert_estimate, load, ratings

REASONS = {
    "no_predicted_in_class": "the judge found no item",
    "no_actual_in_class": "the human found no item",
    "class_absent": "nobody found an item",
}


@pytest.mark.parametrize("case", load("confusion_at_eta"))
def test_golden(case):
    inputs, expected, tolerance = case["input"], case["expected"], case["tolerance"]
    result = confusion_at_eta(ratings(inputs["human"]), ratings(inputs["llm"]), inputs["eta"])
    cells = {name: getattr(result, name) for name in ("tp", "fp", "fn", "tn")}
    assert cells == expected["matrix"]
    assert (result.n, result.missing) == (expected["n"], expected["dropped"])
    for group in ("answerable", "unanswerable"):
        for score in ("precision", "recall", "f1"):
            actual = getattr(getattr(result, group), score)
            assert_estimate(actual, expected[group][score], tolerance, REASONS)
            assert actual.missing == expected["dropped"]
    assert_estimate(result.accuracy, expected["accuracy"], tolerance, REASONS)


def test_by_hand():
    # eta 3. human 5 3 2 0 4 -, judge 4 1 3 0 - 2: pairs yes/yes, yes/no, no/yes, no/no; 2 missing.
    nan = np.nan
    result = confusion_at_eta([5, 3, 2, 0, 4, nan], [4, 1, 3, 0, nan, 2], eta=3)
    assert (result.tp, result.fp, result.fn, result.tn) == (1, 1, 1, 1)
    assert (result.n, result.missing) == (4, 2)
    # Answerable: the judge found 2, of which 1 rightly; the human found 2, of which 1 was found.
    assert (result.answerable.precision.value, result.answerable.precision.n) == (0.5, 2)
    assert (result.answerable.recall.value, result.answerable.recall.n) == (0.5, 2)
    # F1 = 2 * 1 / (2 + 2); three items are answerable to either.
    assert (result.answerable.f1.value, result.answerable.f1.n) == (0.5, 3)
    assert result.accuracy.value == 0.5


@pytest.mark.parametrize("eta", [1, 2, 3, 4, 5])
def test_against_sklearn(eta):
    generator = np.random.default_rng(eta)
    human = generator.integers(0, 6, size=120)
    judge = np.clip(human + generator.integers(-2, 3, size=120), 0, 5)
    result = confusion_at_eta(human, judge, eta)
    truth, guess = human >= eta, judge >= eta
    tn, fp, fn, tp = confusion_matrix(truth, guess, labels=[False, True]).ravel()
    assert (result.tp, result.fp, result.fn, result.tn) == (tp, fp, fn, tn)
    scores = precision_recall_fscore_support(truth, guess, labels=[True, False])
    for column, group in enumerate((result.answerable, result.unanswerable)):
        assert group.precision.value == pytest.approx(scores[0][column])
        assert group.recall.value == pytest.approx(scores[1][column])
        assert group.f1.value == pytest.approx(scores[2][column])
    assert result.accuracy.value == pytest.approx(accuracy_score(truth, guess))


def test_cells_add_up_and_skip_items_without_both_grades():
    nan = np.nan
    cells = item_cells([5, 5, 0, nan, 4], [5, 0, 5, 5, nan], eta=3)
    assert cells.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0] * 4, [0] * 4]
    assert confusion_from_cells(cells.sum(axis=0)).n == 3


def test_level_matrix_has_every_level_and_the_human_in_rows():
    generator = np.random.default_rng(2)
    human, judge = generator.integers(0, 4, size=(2, 60))
    matrix = level_matrix(human, judge, range(6))
    assert matrix.tolist() == confusion_matrix(human, judge, labels=range(6)).tolist()
    assert level_matrix([1, np.nan], [0, 1], [0, 1]).tolist() == [[0, 0], [1, 0]]


def test_confusion_without_common_items_is_undefined():
    result = confusion_at_eta([np.nan], [3], eta=3)
    assert (result.n, result.missing) == (0, 1)
    assert result.accuracy.reason == "undefined, because no item has both grades"
    assert result.answerable.f1.value is None
    assert confusion_at_eta([], [], eta=3).n == 0


def test_refuses():
    with pytest.raises(ValueError, match="equal length"):
        confusion_at_eta([1, 2], [1], eta=3)
    with pytest.raises(ValueError, match="equal length"):
        item_cells([1, 2], [1], eta=3)
    with pytest.raises(ValueError, match="outside the scale"):
        level_matrix([6], [1], range(6))
