"""Tests of evaluation.stats.isotonic: calibration of a judge, fitted on other topics."""

import numpy as np
import pytest

from evaluation.stats.isotonic import cross_fitted

NAN = np.nan
TOPICS = np.repeat([1, 2, 3], 6)
JUDGE = np.tile([0, 0, 1, 1, 4, 4.0], 3)
# The judge's 0 is above its 1 in people's words: both are pooled to 2. Its 4 is people's 4.5, up.
PEOPLE = np.tile([3, 3, 1, 1, 4.5, 4.5], 3)


def test_by_hand():
    levels = cross_fitted(JUDGE, PEOPLE, TOPICS, range(6))
    assert list(levels) == [2, 2, 2, 2, 5, 5] * 3


def test_topic_is_not_read_for_its_own_map():
    people = PEOPLE.copy()
    people[TOPICS == 3] = 0
    assert list(cross_fitted(JUDGE, people, TOPICS, range(6))[TOPICS == 3]) == [2, 2, 2, 2, 5, 5]
    # Of topic 1 the others are 2 and 3: 0 and 1 are (3 + 1 + 0 + 0) / 4 = 1, and 4 is 4.5 / 2, down.
    assert list(cross_fitted(JUDGE, people, TOPICS, range(6))[TOPICS == 1]) == [1, 1, 1, 1, 2, 2]


def test_missing_outer_and_intermediate_grades():
    judge, people = np.append(JUDGE, [NAN, 5, 2.5]), np.append(PEOPLE, [3, NAN, NAN])
    levels = cross_fitted(judge, people, np.append(TOPICS, [4, 4, 4]), range(6))
    # 5 is read as 4; 2.5 is half of the way from 1 (2) to 4 (4.5): 3.25.
    assert np.array_equal(levels[-3:], [NAN, 5, 3], equal_nan=True)


@pytest.mark.parametrize(
    ("topics", "reason"),
    [
        (np.ones(18), "rated the same pairs of 1"),
        (np.repeat([1, 2], [9, 9]), "only 9 pairs were rated by people and the judge"),
        (np.ones(17), "one topic for every item"),
    ],
)
def test_undefined_says_why(topics, reason):
    with pytest.raises(ValueError, match=reason):
        cross_fitted(JUDGE, PEOPLE, topics, range(6))


def test_judge_without_common_items_is_refused():
    with pytest.raises(ValueError, match="the same pairs of 0"):
        cross_fitted(JUDGE, np.full(18, NAN), TOPICS, range(6))
