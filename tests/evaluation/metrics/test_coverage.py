import numpy as np
import pytest

from evaluation.metrics.coverage import answerable_questions, coverage
from tests.evaluation.golden_cases import assert_estimate, load, ratings

REASONS = {"no_answerable_questions": "there are no answerable questions"}


@pytest.mark.parametrize("case", load("coverage"))
def test_golden(case):
    inputs, expected = case["input"], case["expected"]
    if inputs["P_star"] is None:
        answerable = inputs["answerable"]
    else:
        answerable = answerable_questions(ratings(inputs["P_star"]), inputs["answerable_eta"])
    assert list(answerable) == expected["answerable"]
    questions = len(inputs["P_star"][0]) if inputs["P_star"] else len(inputs["Z"][0])
    z = ratings(inputs["Z"]).reshape(-1, questions)
    result = coverage(z, answerable, inputs["eta"])
    assert_estimate(result, expected, case["tolerance"], REASONS)
    assert result.n == expected["n_answerable"]
    assert result.missing == expected["n_missing"]
    assert list(result.answerable) == expected["answerable"]
    assert list(result.covered) == expected["covered"]


def test_by_hand():
    # Relevant passages answer questions 0, 2 and 3 at eta 3. Z answers 0 (4) and 1 (5), of which
    # only 0 counts; question 2 is unrated by its one passage. Coverage 1/3, one unrated cell.
    answerable = answerable_questions([[5, 2, 3, 0], [0, 0, 1, 4]], eta=3)
    assert answerable == (0, 2, 3)
    result = coverage([[4, 5, np.nan, 0]], answerable, eta=3)
    assert (result.value, result.n, result.missing) == (pytest.approx(1 / 3), 3, 1)
    assert result.covered == (0,)


@pytest.mark.parametrize("seed", range(5))
def test_against_a_maximum_over_passages(seed):
    generator = np.random.default_rng(seed)
    p_star, z = generator.integers(0, 6, (2, 15)), generator.integers(0, 6, (3, 15))
    is_answerable = p_star.max(axis=0) >= 3
    expected = (z.max(axis=0)[is_answerable] >= 3).mean()
    assert coverage(z, answerable_questions(p_star, 3), 3).value == pytest.approx(expected)


def test_unrated_cells_outside_the_answerable_questions_are_not_counted():
    assert coverage([[np.nan, 4], [np.nan, np.nan]], [1], eta=3).missing == 1


def test_pool_without_passages_has_no_answerable_question():
    assert answerable_questions(np.empty((0, 4)), eta=3) == ()
    result = coverage([[5, 5, 5, 5]], (), eta=3)
    assert (result.value, result.n) == (None, 0)


def test_refuses():
    with pytest.raises(ValueError, match="passages x questions"):
        coverage([5, 0], [0], eta=3)
    with pytest.raises(ValueError, match="passages x questions"):
        answerable_questions([], eta=3)
    for answerable in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match="distinct and below 2"):
            coverage([[5, 0]], answerable, eta=3)
