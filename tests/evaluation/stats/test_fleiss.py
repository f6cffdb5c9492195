import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from evaluation.stats import fleiss
from tests.evaluation.golden_cases import assert_close, assert_estimate, load

REASONS = {"single_category_used": "all ratings are in one category"}


@pytest.mark.parametrize("case", load("fleiss_kappa"))
def test_golden(case):
    matrix, expected, tolerance = case["input"]["counts"], case["expected"], case["tolerance"]
    kappa = fleiss.fleiss_kappa(matrix)
    assert_estimate(kappa, expected, tolerance, REASONS)
    assert kappa.n == expected["n_items_two_or_more"]
    assert kappa.n + kappa.missing == len(matrix)
    assert_close(fleiss.percent_agreement(matrix).value, expected["observed_agreement"], tolerance)
    chance = fleiss.expected_agreement(matrix)
    assert_close(chance.value, expected["expected_agreement"], tolerance)
    assert chance.n == expected["n_items"]
    assert_close(fleiss.gwet_ac1(matrix).value, expected["gwet_ac1"], tolerance)
    assert_close(fleiss.randolph_kappa(matrix).value, expected["randolph"], tolerance)
    shares = fleiss.prevalence(matrix)
    for share, expected_share in zip(shares, expected["category_shares"], strict=True):
        assert_close(share, expected_share, tolerance)


def test_by_hand():
    # Three raters, levels no/yes; items (yes yes yes), (yes yes no), (no no no), (no yes no).
    # Agreeing pairs of 3: 3, 1, 3, 1, so observed = (1 + 1/3 + 1 + 1/3)/4 = 2/3.
    # Shares: yes 6/12, no 6/12, so expected = 1/4 + 1/4 = 1/2 and kappa = (1/6)/(1/2) = 1/3.
    # AC1: chance = (1/4 + 1/4)/(2 - 1) = 1/2, the same here, so 1/3.
    matrix = fleiss.counts([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 1, 0]], levels=[0, 1])
    assert matrix.tolist() == [[0, 3], [1, 2], [3, 0], [2, 1]]
    assert fleiss.percent_agreement(matrix).value == pytest.approx(2 / 3)
    assert fleiss.expected_agreement(matrix).value == pytest.approx(1 / 2)
    assert fleiss.fleiss_kappa(matrix).value == pytest.approx(1 / 3)
    assert fleiss.gwet_ac1(matrix).value == pytest.approx(1 / 3)
    # Randolph: chance = 1/2 for two categories, so 1/3; a third, unused one makes it 1/3, so 1/2.
    assert fleiss.randolph_kappa(matrix).value == pytest.approx(1 / 3)
    wider = np.column_stack([matrix, np.zeros(4)])
    assert fleiss.randolph_kappa(wider).value == pytest.approx(1 / 2)
    assert fleiss.prevalence(matrix).tolist() == pytest.approx([0.5, 0.5])


def test_unequal_raters_by_hand():
    # Items: 2 of 2 "no"; 1 "yes" alone; unrated. Only the first has a pair: observed = 1, n = 1.
    # Shares over the two rated items: no (1 + 0)/2, yes (0 + 1)/2; expected 1/2, kappa 1.
    nan = np.nan
    matrix = fleiss.counts([[0, 0], [1, nan], [nan, nan]], levels=[0, 1])
    kappa = fleiss.fleiss_kappa(matrix)
    assert (kappa.value, kappa.n, kappa.missing) == (1.0, 1, 2)
    assert fleiss.expected_agreement(matrix).value == 0.5
    assert fleiss.expected_agreement(matrix).missing == 1


@pytest.mark.parametrize("seed", range(5))
def test_against_statsmodels(seed):
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 4, size=(60, 1))
    noise = generator.integers(0, 4, size=(60, 5))
    ratings = np.where(generator.random((60, 5)) < 0.6, truth, noise)
    table, _ = aggregate_raters(ratings, n_cat=4)
    matrix = fleiss.counts(ratings, levels=[0, 1, 2, 3])
    assert matrix.tolist() == table.tolist()
    assert fleiss.fleiss_kappa(matrix).value == pytest.approx(statsmodels_fleiss(table))
    randolph = statsmodels_fleiss(table, method="randolph")
    assert fleiss.randolph_kappa(matrix).value == pytest.approx(randolph)


def test_kappa_of_two_swapped_raters_equals_cohens():
    # Scott's pi (Fleiss with two raters) is Cohen's kappa when both raters use equal shares, as
    # they do once every pair is also counted the other way round.
    generator = np.random.default_rng(11)
    a = generator.integers(0, 3, size=80)
    b = np.where(generator.random(80) < 0.5, a, generator.integers(0, 3, size=80))
    ratings = np.column_stack([np.r_[a, b], np.r_[b, a]])
    matrix = fleiss.counts(ratings, levels=[0, 1, 2])
    expected = cohen_kappa_score(ratings[:, 0], ratings[:, 1])
    assert fleiss.fleiss_kappa(matrix).value == pytest.approx(expected)


def test_sums_per_topic_give_the_statistic_of_any_resample():
    generator = np.random.default_rng(3)
    topics = [fleiss.counts(generator.integers(0, 2, (15, 3)), [0, 1]) for _ in range(4)]
    sums = np.stack([fleiss.item_terms(topic).sum(axis=0) for topic in topics])
    draws = np.array([[0, 0, 1, 3], [2, 2, 2, 2]])
    weights = np.stack([np.bincount(draw, minlength=4) for draw in draws])
    kappas = fleiss.kappa_from_sums(weights @ sums)
    coefficients = fleiss.ac1_from_sums(weights @ sums)
    for draw, kappa, ac1 in zip(draws, kappas, coefficients, strict=True):
        matrix = np.concatenate([topics[topic] for topic in draw])
        assert kappa == pytest.approx(fleiss.fleiss_kappa(matrix).value)
        assert ac1 == pytest.approx(fleiss.gwet_ac1(matrix).value)


def test_undefined_sums_are_nan():
    one_category = fleiss.item_terms([[3, 0], [3, 0]]).sum(axis=0)
    stack = np.stack([one_category, np.zeros(5)])
    assert np.isnan(fleiss.kappa_from_sums(stack)).tolist() == [True, True]
    assert np.isnan(fleiss.ac1_from_sums(stack)).tolist() == [False, True]


@pytest.mark.parametrize("matrix", [np.zeros((0, 2)), [[1, 0], [0, 1]], [[0, 0]]])
def test_kappa_without_pairable_items_is_undefined(matrix):
    for statistic in (
        fleiss.fleiss_kappa,
        fleiss.gwet_ac1,
        fleiss.randolph_kappa,
        fleiss.percent_agreement,
    ):
        result = statistic(matrix)
        assert result.value is None
        assert result.reason == "undefined, because no item has two ratings"
        assert (result.n, result.missing) == (0, len(matrix))


def test_empty_ratings_are_undefined():
    assert fleiss.expected_agreement([[0, 0]]).reason == "undefined, because there are no ratings"
    assert np.isnan(fleiss.prevalence([[0, 0]])).all()


@pytest.mark.parametrize("matrix", [[[-1, 2]], [[0.5, 1]], [[1], [2]], [1, 2]])
def test_refuses_what_is_not_a_count_matrix(matrix):
    with pytest.raises(ValueError, match="counts are"):
        fleiss.fleiss_kappa(matrix)


def test_counts_refuses():
    with pytest.raises(ValueError, match="items x raters"):
        fleiss.counts([0, 1], [0, 1])
    with pytest.raises(ValueError, match="outside the scale"):
        fleiss.counts([[0, 2]], [0, 1])
