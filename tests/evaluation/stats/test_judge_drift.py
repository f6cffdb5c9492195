"""Drift and position bias of judges, at their limits."""

import pytest

from evaluation.stats.judge_drift import judge_drift
from evaluation.stats.position_bias import position_bias


def test_unchanged_grades_give_no_alarm():
    drift = judge_drift([0, 1, 2], [0, 1, 2], 3)
    assert (drift.value, drift.largest, drift.alarm, drift.p_sign) == (0, 1, None, None)


def test_alarm_is_the_first_anchor_at_the_limit():
    drift = judge_drift([2] * 40, [0] * 40, 3)
    assert drift.alarm is not None
    assert drift.e_values[drift.alarm - 1] >= 20 > drift.e_values[drift.alarm - 2]


def test_empty_input_is_undefined():
    assert judge_drift([], [], 3).value is None
    assert position_bias([]).value is None


def test_position_that_decides_half_of_the_pairs():
    bias = position_bias([("first", "first"), ("first", "second")])
    assert (bias.value, bias.n_first, bias.prefers_first) == (0.5, 1, 1)
    assert bias.p == pytest.approx(1.0)
