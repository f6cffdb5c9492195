import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from evaluation.stats import cohen
from evaluation.stats.confusion import level_matrix
from tests.evaluation.golden_cases import assert_close, assert_estimate, load, ratings

REASONS = {"single_category_used": "all ratings are in one category"}
WEIGHTS = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}


@pytest.mark.parametrize("case", load("cohen_kappa"))
@pytest.mark.parametrize("name", WEIGHTS)
def test_golden(case, name):
    a, b = ratings(case["input"]["a"]), ratings(case["input"]["b"])
    expected, tolerance = case["expected"][name], case["tolerance"]
    kappa = cohen.cohen_kappa(a, b, case["input"]["labels"], WEIGHTS[name])
    assert_estimate(kappa, expected, tolerance, REASONS)
    assert (kappa.n, kappa.missing) == (expected["n"], expected["dropped"])
    agreement = cohen.percent_agreement(a, b)
    assert_close(agreement.value, expected["percent_agreement"], tolerance)
    assert (agreement.n, agreement.missing) == (expected["n"], expected["dropped"])
    assert cohen.one_rater_constant(a, b) is expected["one_rater_constant"]


def test_by_hand():
    # a: 0 0 1 1, b: 0 1 1 1. Agreement 3/4. By chance: 1/2 * 1/4 + 1/2 * 3/4 = 1/2.
    # kappa = (3/4 - 1/2) / (1 - 1/2) = 1/2.
    assert cohen.cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1], [0, 1]).value == pytest.approx(0.5)


def test_weights_follow_label_values_by_hand():
    # Labels 0, 1, 4; a: 0 4, b: 1 4. Linear cost |0 - 1| + |4 - 4| = 1, mean 1/2.
    # By chance the pairs (0,1) (0,4) (4,1) (4,4) are equally likely: (1 + 4 + 3 + 0)/4 = 2.
    # kappa = 1 - (1/2)/2 = 3/4. By rank of the label it would be 1 - (1/2)/(4/4) = 1/2.
    assert cohen.cohen_kappa([0, 4], [1, 4], [0, 1, 4], "linear").value == pytest.approx(0.75)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weights", WEIGHTS.values())
def test_against_sklearn_and_statsmodels(seed, weights):
    generator = np.random.default_rng(seed)
    labels = np.arange(6)
    a = generator.integers(0, 6, size=150)
    b = np.clip(a + generator.integers(-2, 3, size=150), 0, 5)
    value = cohen.cohen_kappa(a, b, labels, weights).value
    assert value == pytest.approx(cohen_kappa_score(a, b, labels=labels, weights=weights))
    table = level_matrix(a, b, labels)
    # In statsmodels a bare "quadratic" is 1 - (distance/max)^2, and "linear" likewise.
    expected = cohens_kappa(table, wt=weights, return_results=False)
    assert value == pytest.approx(expected)


def test_uneven_labels_against_statsmodels():
    generator = np.random.default_rng(8)
    labels = np.array([0, 1, 2, 5, 9])
    a, b = generator.choice(labels, size=(2, 100))
    cost = np.abs(labels[:, None] - labels).astype(float)
    expected = cohens_kappa(level_matrix(a, b, labels), weights=cost, return_results=False)
    assert cohen.cohen_kappa(a, b, labels, "linear").value == pytest.approx(expected)


def test_matrices_add_up_over_topics():
    generator = np.random.default_rng(4)
    a, b = generator.integers(0, 3, size=(2, 4, 20))
    tables = np.stack([level_matrix(x, y, [0, 1, 2]) for x, y in zip(a, b, strict=True)])
    draws = np.array([[0, 1, 1, 3], [2, 2, 0, 0]])
    stacked = cohen.kappa_from_matrix(tables[draws].sum(axis=1), [0, 1, 2], "quadratic")
    for draw, value in zip(draws, stacked, strict=True):
        whole = cohen.cohen_kappa(a[draw].ravel(), b[draw].ravel(), [0, 1, 2], "quadratic")
        assert value == pytest.approx(whole.value)


def test_kappa_without_common_items_is_undefined():
    kappa = cohen.cohen_kappa([1, np.nan], [np.nan, 0], [0, 1])
    assert (kappa.value, kappa.n, kappa.missing) == (None, 0, 2)
    assert kappa.reason == "undefined, because no item was rated by both raters"
    assert cohen.percent_agreement([], []).reason == kappa.reason
    assert not cohen.one_rater_constant([], [])
    assert np.isnan(cohen.kappa_from_matrix(np.zeros((2, 2)), [0, 1]))


def test_refuses():
    with pytest.raises(ValueError, match="outside the scale"):
        cohen.cohen_kappa([0, 2], [0, 1], [0, 1])
    with pytest.raises(ValueError, match="equal length"):
        cohen.cohen_kappa([0], [0, 1], [0, 1])
    with pytest.raises(ValueError, match="'linear' or 'quadratic'"):
        cohen.cohen_kappa([0, 1], [0, 1], [0, 1], "cubic")
    with pytest.raises(ValueError, match="square"):
        cohen.kappa_from_matrix(np.zeros((2, 3)), [0, 1])
