"""Length bias of a judge, by hand."""

import numpy as np
import pytest

from evaluation.stats.length_bias import ONE_LENGTH, ONE_TOPIC, length_bias

NAN = np.nan


def test_slope_within_topics_by_hand():
    # Judge - people is 0, 1, 2 for lengths 1, 2, 4 in one topic, and 5, 5 for 8, 16 in another. Less the means:
    # doublings -1 0 1 and -.5 .5, differences -1 0 1 and 0 0; slope 2 / 2.5.
    slope = length_bias(
        [1, 2, 3, 6, 6], [1, 1, 1, 1, 1], [1, 2, 4, 8, 16], np.array([1, 1, 1, 2, 2])
    )
    assert slope.value == pytest.approx(0.8)
    # Residuals times doublings: .2 + .2 in the first topic, -.2 - .2 in the second.
    error = np.sqrt(2 * (0.4**2 + 0.4**2)) / 2.5
    reach = 12.706204736 * error
    assert (slope.low, slope.high) == pytest.approx((0.8 - reach, 0.8 + reach))


def test_missing_texts_are_counted():
    slope = length_bias([1, 2, NAN], [1, 1, 1], [1, 2, 4], np.array([1, 1, 1]))
    assert (slope.value, slope.n, slope.missing) == (pytest.approx(1.0), 2, 1)
    assert (slope.low, slope.interval_reason) == (None, ONE_TOPIC)


@pytest.mark.parametrize(("lengths", "topics"), [([3, 3], [1, 1]), ([1, 2], [1, 2])])
def test_texts_of_one_length_in_each_topic(lengths, topics):
    slope = length_bias([1, 2], [1, 1], lengths, np.array(topics))
    assert (slope.value, slope.reason) == (None, ONE_LENGTH)


def test_bad_values_are_refused():
    with pytest.raises(ValueError, match="above 0"):
        length_bias([1, 2], [1, 1], [0, 1], np.array([1, 1]))
    with pytest.raises(ValueError, match="one value for each text"):
        length_bias([1, 2], [1, 1], [1, 2], np.array([1]))


def test_topics_with_one_length_add_no_certainty():
    topics = np.array([1, 1, 2, 3, 3])
    slope = length_bias([1, 2, 5, 4, 4], [1, 1, 1, 1, 1], [1, 2, 7, 3, 3], topics)
    assert (slope.value, slope.low, slope.interval_reason) == (1, None, ONE_TOPIC)
