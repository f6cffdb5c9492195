"""Confidence sequences: by hand, at their limits, and 1,000 simulated studies."""

import numpy as np
import pytest

from evaluation.stats import betting
from evaluation.stats.betting import (
    assisted_sequence,
    betting_sequence,
    e_values,
    empirical_bernstein_sequence,
)

N_STUDIES = 1000
ALPHA = 0.05
GRID = 200  # coarser than on pages: the interval is widened by a step, so it holds as well


def n_missed(studies):
    """Count studies in which the mean was outside the interval after any value."""
    return sum(sequence.first_outside(mean) is not None for sequence, mean in studies)


def test_constant_looking_misses_at_most_alpha():
    generator = np.random.default_rng(1)

    def study():
        mean = generator.uniform(0.05, 0.95)
        return betting_sequence(generator.random(100) < mean, alpha=ALPHA, grid=GRID), mean

    assert n_missed(study() for _ in range(N_STUDIES)) <= ALPHA * N_STUDIES


def test_constant_looking_at_a_finite_population_misses_at_most_alpha():
    generator = np.random.default_rng(2)

    def study():
        population = generator.beta(*generator.uniform(0.3, 3, 2), 120)
        values = generator.permutation(population)
        sequence = betting_sequence(values, alpha=ALPHA, population=len(values), grid=GRID)
        return sequence, population.mean()

    assert n_missed(study() for _ in range(N_STUDIES)) <= ALPHA * N_STUDIES


def test_constant_looking_beside_a_judge_misses_at_most_alpha():
    generator = np.random.default_rng(3)

    def study():
        people = generator.random(120) < generator.uniform(0.2, 0.8)
        is_wrong = generator.random(120) < generator.uniform(0.05, 0.3)
        judge = np.where(is_wrong, ~people, people).astype(float)
        order = generator.permutation(120)
        sequence = assisted_sequence(
            judge, people[order] - judge[order], bound=1, alpha=ALPHA, grid=GRID
        )
        return sequence, people.mean()

    assert n_missed(study() for _ in range(N_STUDIES)) <= ALPHA * N_STUDIES


def test_constant_looking_at_an_order_misses_at_most_alpha():
    generator = np.random.default_rng(6)

    def study():
        difference = np.clip(generator.normal(generator.uniform(-0.3, 0.3), 0.2, 30), -1, 1)
        judge = np.clip(difference + generator.normal(0, 0.15, 30), -1, 1)
        order = generator.permutation(30)
        errors = (difference - judge)[order]
        return assisted_sequence(judge, errors, bound=2, alpha=ALPHA, grid=GRID), difference.mean()

    assert n_missed(study() for _ in range(N_STUDIES)) <= ALPHA * N_STUDIES


def test_constant_looking_by_bernstein_misses_at_most_alpha():
    generator = np.random.default_rng(4)

    def study():
        return empirical_bernstein_sequence(generator.beta(2, 3, 150), alpha=ALPHA), 2 / 5

    assert n_missed(study() for _ in range(N_STUDIES)) <= ALPHA * N_STUDIES


def test_judge_without_errors_narrows_the_interval():
    judge = np.array([0.0, 1.0] * 50)
    sequence = assisted_sequence(judge, np.zeros(100), bound=1)
    assert sequence.value.tolist() == pytest.approx([0.5] * 100)
    assert sequence.first_width(0.2) < 100
    assert (sequence.lower[-1], sequence.upper[-1]) == pytest.approx((0.5, 0.5))


def test_first_value_of_a_finite_population_bounds_the_mean():
    sequence = betting_sequence([1.0], population=4)
    assert sequence.lower.tolist() == [0.25]
    assert sequence.upper.tolist() == [1.0]
    assert (sequence.first_outside(0.2), sequence.first_outside(0.5)) == (1, None)


def test_blocks_give_the_same_sequence(monkeypatch):
    values = np.random.default_rng(8).random(50)
    expected = betting_sequence(values, population=60)
    monkeypatch.setattr(betting, "BLOCK", 7)
    sequence = betting_sequence(values, population=60)
    np.testing.assert_allclose(sequence.lower, expected.lower)
    np.testing.assert_allclose(sequence.upper, expected.upper)


def test_e_value_of_no_change_stays_one():
    assert e_values([0.5] * 20, 0.5).tolist() == [1.0] * 20


def test_no_value_has_no_interval():
    assert len(betting_sequence([])) == 0
    assert betting_sequence([]).first_width(0.2) is None


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([0.5, 1.2], {}, "from 0 to 1"),
        ([np.nan], {}, "from 0 to 1"),
        ([0.5], {"alpha": 0}, "between 0 and 1"),
        ([0.5, 0.5], {"population": 1}, "cannot be drawn"),
    ],
)
def test_bad_values_are_refused(values, options, message):
    for sequence in (betting_sequence, empirical_bernstein_sequence):
        with pytest.raises(ValueError, match=message):
            sequence(values, **options)


def test_error_outside_its_bound_is_refused():
    with pytest.raises(ValueError, match="from -1 to 1"):
        assisted_sequence([0.5, 0.5], [1.5], bound=1)
    with pytest.raises(ValueError, match="every unit"):
        assisted_sequence([], [], bound=1)
