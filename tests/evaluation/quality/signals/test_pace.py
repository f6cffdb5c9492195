import numpy as np
import pytest

from evaluation.quality.signals.pace import pace


def pace_of(ms, answers, handed_in):
    return pace(np.array(ms, dtype=np.int64), np.array(answers), np.array(handed_in, dtype=bool))


def test_median_over_items_handed_in_and_answers_an_hour_over_all():
    estimates = pace_of([60_000, 30_000, 90_000], [2, 2, 1], [True, True, False])
    assert estimates.active_ms == 180_000
    assert (estimates.per_item.value, estimates.per_item.n) == (45, 2)
    assert estimates.per_hour.value == pytest.approx(100)  # 5 answers in 3 minutes


def test_item_without_a_clock_is_missing_and_not_fast():
    estimates = pace_of([60_000, 0], [2, 2], [True, True])
    assert (estimates.per_item.value, estimates.per_item.n, estimates.per_item.missing) == (
        60,
        1,
        1,
    )
    assert estimates.per_hour.value == pytest.approx(120)


def test_undefined_pace_has_a_reason():
    assert "no active time" in pace_of([0], [2], [True]).per_item.reason
    assert "no item was submitted" in pace_of([5_000], [1], [False]).per_item.reason
    assert "no active time" in pace_of([], [], []).per_hour.reason
