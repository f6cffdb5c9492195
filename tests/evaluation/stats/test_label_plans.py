"""Plans of labels: what the two plans need, by hand and in the study of the documentation."""

import numpy as np
import pytest

from evaluation.stats.betting import assisted_sequence
from evaluation.stats.label_plans import (
    EQUAL_ERRORS,
    JudgedPairs,
    decides_order,
    finite_mean,
    fixed_need,
    reaches_half_width,
    sequence_need,
)

NAN = np.nan


def population(n, share=0.6):
    judge = (np.arange(n) < share * n).astype(float)
    return JudgedPairs(np.arange(n), np.ones(n), judge, np.full(n, NAN))


@pytest.mark.parametrize(("rate", "sequence", "fixed"), [(0.15, 120, 58), (0.05, 76, 22)])
def test_needs_of_the_study_of_the_documentation(rate, sequence, fixed):
    pairs = population(1240)
    stop = reaches_half_width(0.1)
    need = sequence_need(pairs, bound=1, stop=stop, assumed_rate=rate)
    assert need.median == pytest.approx(sequence, rel=0.15)
    assert need.median <= need.worst_tenth < 200
    need = fixed_need(pairs, half_width=0.1, assumed_rate=rate)
    assert need.median == pytest.approx(fixed, rel=0.2)


def test_errors_of_people_replace_the_assumed_rate():
    pairs = population(100)
    errors = np.full(100, NAN)
    errors[:20], errors[60:80] = 0.0, 0.0
    observed = JudgedPairs(pairs.unit, pairs.weights, pairs.judge, errors)
    assert observed.error_rate(0.5) == 0
    assert not observed.simulate_errors(0.5, np.random.default_rng(1)).any()
    assert pairs.error_rate(0.5) == 0.5


def test_units_sum_their_weighted_pairs():
    pairs = JudgedPairs(
        np.array([0, 0, 1]),
        np.array([0.5, -0.5, 1.0]),
        np.array([1.0, 1.0, 1.0]),
        np.array([-1.0, 0.0, 0.0]),
    )
    assert pairs.judge_values.tolist() == [0, 1]
    assert pairs.simulate_errors(0.1, np.random.default_rng(1)).tolist() == [-0.5, 0]


def test_order_of_equal_systems_needs_nearly_all_topics():
    pairs = population(8)
    need = sequence_need(pairs, bound=2, stop=decides_order(0.01), assumed_rate=0.3)
    assert 6 <= need.median <= need.worst_tenth <= 8


def test_order_stops_at_a_clear_difference_and_at_equality():
    judge = np.full(60, 0.8)
    assert decides_order(0.05)(assisted_sequence(judge, np.zeros(60), bound=2)) < 60
    equal = assisted_sequence(np.zeros(60), np.zeros(60), bound=2)
    assert decides_order(0.05)(equal) <= 60
    assert decides_order(0.05)(assisted_sequence(judge, np.zeros(2), bound=2)) is None


def test_mean_of_a_fixed_draw_by_hand():
    judge = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    estimate = finite_mean(judge, np.array([-1.0, 0.0, 0.0, 0.0]))
    # 0.5 - 0.25; variance 0.25 / 4 * (1 - 4 / 8), t(3) = 3.1824.
    assert estimate.value == 0.25
    assert estimate.high - estimate.value == pytest.approx(3.18244630 * np.sqrt(0.25 / 8))


def test_equal_errors_promise_no_certainty():
    estimate = finite_mean(np.ones(8), np.zeros(4))
    assert (estimate.value, estimate.low, estimate.interval_reason) == (1, None, EQUAL_ERRORS)
    assert finite_mean(np.ones(4), np.zeros(4)).low == 1


def test_fixed_draw_holds_in_simulated_studies():
    generator, missed = np.random.default_rng(2), 0
    for _ in range(1000):
        people = generator.random(400) < 0.6
        judge = np.where(generator.random(400) < 0.15, ~people, people).astype(float)
        sample = generator.permutation(400)[:60]
        estimate = finite_mean(judge, people[sample] - judge[sample])
        missed += not estimate.low <= people.mean() <= estimate.high
    assert missed <= 75  # nominal 50
