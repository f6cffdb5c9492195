"""Agreement with an expert before and after feedback, against values by hand."""

import numpy as np
import pytest
import scipy

from evaluation.stats.feedback_effect import (
    FEW,
    NO_COMPARABLE,
    NO_PAIRS_AFTER,
    NO_PAIRS_BEFORE,
    difficulty,
    feedback_effect,
)

HARD, EASY = 0.25, 0.75


def pairs(*rows: tuple[bool, float, int, int], rater: int = 1):
    """Return arrays from rows: after the feedback, share of others, agreed, not agreed."""
    columns = [
        (agreed, follows_feedback, support)
        for follows_feedback, support, n_agreed, n_not in rows
        for agreed in [True] * n_agreed + [False] * n_not
    ]
    agrees, follows_feedback, support = (np.array(column) for column in zip(*columns, strict=True))
    return agrees, follows_feedback, support.astype(float), np.full(len(columns), rater)


EARLIER_ROWS = [(False, HARD, 1, 3), (False, EASY, 8, 2)]
LATER_ROWS = [(True, HARD, 3, 3), (True, EASY, 2, 0)]


def test_difference_compares_pairs_of_equal_difficulty():
    """Hard: 1/4 before, 3/6 after; easy: 8/10, 2/2. The shares of all pairs fall, though."""
    agrees, follows_feedback, support, raters = pairs(*EARLIER_ROWS, *LATER_ROWS)
    effect = feedback_effect(agrees, follows_feedback, support, raters, np.zeros(22, np.int64))
    assert (effect.share_before.value, effect.share_before.n) == (9 / 14, 14)
    assert (effect.share_after.value, effect.share_after.n) == (5 / 8, 8)
    # Weights of the pairs after: 6 and 2.
    assert effect.difference.value == pytest.approx((6 * (1 / 2 - 1 / 4) + 2 * (1 - 0.8)) / 8)
    assert (effect.difference.n, effect.difference.missing) == (22, 0)
    assert (
        effect.difference.interval_reason
        == "no interval, because there are fewer than two clusters"
    )


def test_pairs_that_cannot_be_compared_are_counted_as_missing():
    more = [(False, np.nan, 7, 0), (True, np.nan, 0, 5), (True, 0.5, 4, 0)]
    agrees, follows_feedback, support, raters = pairs(*EARLIER_ROWS, *LATER_ROWS, *more)
    effect = feedback_effect(agrees, follows_feedback, support, raters, np.zeros(38, np.int64))
    assert effect.difference.value == pytest.approx(0.2375)
    assert (effect.difference.n, effect.difference.missing) == (22, 16)
    assert (effect.share_before.n, effect.share_after.n) == (21, 17)


def test_pooled_difference_compares_each_rater_with_themselves():
    """The shares rise from 0/5 to 1/5, and stay at 5/5 and 15/15: (5 × 0.2 + 15 × 0) / 20."""
    one = pairs((False, HARD, 0, 5), (True, HARD, 1, 4), rater=1)
    two = pairs((False, HARD, 5, 0), (True, HARD, 15, 0), rater=2)
    columns = [np.concatenate(column) for column in zip(one, two, strict=True)]
    effect = feedback_effect(*columns, np.zeros(30, np.int64))
    assert effect.difference.value == pytest.approx(0.05)


def test_interval_is_a_jackknife_over_topics():
    rng = np.random.default_rng(4)
    n = 120
    topics = rng.integers(0, 6, n)
    support = rng.choice([HARD, 0.5, EASY, np.nan], n)
    follows_feedback, agrees = rng.random(n) < 0.5, rng.random(n) < 0.6
    raters = rng.integers(1, 3, n)

    def by_hand(subset):
        total = weight = 0.0
        for rater in (1, 2):
            for share in (HARD, 0.5, EASY):
                stratum = subset & (raters == rater) & (support == share)
                later, earlier = (
                    agrees[stratum & follows_feedback],
                    agrees[stratum & ~follows_feedback],
                )
                if len(later) and len(earlier):
                    total += len(later) * (later.mean() - earlier.mean())
                    weight += len(later)
        return total / weight

    difference = feedback_effect(agrees, follows_feedback, support, raters, topics).difference
    assert difference.value == pytest.approx(by_hand(np.ones(n, bool)))
    deleted = np.array([by_hand(topics != topic) for topic in range(6)])
    error = np.sqrt(5 / 6 * ((deleted - deleted.mean()) ** 2).sum())
    reach = scipy.stats.t.ppf(0.975, 5) * error
    assert difference.low == pytest.approx(difference.value - reach)
    assert difference.high == pytest.approx(difference.value + reach)


@pytest.mark.parametrize(
    ("rows", "reason", "n"),
    [
        ([(False, HARD, 5, 5)], NO_PAIRS_AFTER, 0),
        ([(True, HARD, 5, 5)], NO_PAIRS_BEFORE, 0),
        ([(False, np.nan, 5, 5), (True, np.nan, 5, 5)], NO_COMPARABLE, 0),
        ([(False, HARD, 5, 5), (True, EASY, 5, 5)], FEW, 0),
        ([(False, HARD, 5, 5), (True, HARD, 2, 2)], FEW, 14),
    ],
)
def test_undefined_difference_has_a_reason(rows, reason, n):
    agrees, follows_feedback, support, raters = pairs(*rows)
    effect = feedback_effect(agrees, follows_feedback, support, raters, np.arange(len(agrees)))
    difference = effect.difference
    assert difference.reason == f"undefined, because {reason}"
    assert (difference.value, difference.n, difference.n + difference.missing) == (
        None,
        n,
        len(agrees),
    )


def test_no_pairs_are_undefined():
    empty = np.array([], dtype=np.int64)
    effect = feedback_effect(
        empty.astype(bool), empty.astype(bool), empty.astype(float), empty, empty
    )
    for estimate in (effect.share_before, effect.share_after, effect.difference):
        assert (estimate.value, estimate.n) == (None, 0)


def test_topic_without_which_nothing_is_comparable_leaves_no_interval():
    agrees, follows_feedback, support, raters = pairs((False, HARD, 3, 3), (True, HARD, 3, 3))
    effect = feedback_effect(agrees, follows_feedback, support, raters, np.repeat([1, 2], 6))
    assert effect.difference.value == 0
    assert effect.difference.interval_reason.startswith(
        "no interval, because the value is undefined without"
    )


def test_difficulty_has_three_bands_of_equal_width():
    shares = np.array([0, 1 / 4, 1 / 3, 2 / 5, 1 / 2, 3 / 5, 2 / 3, 3 / 4, 1])
    assert difficulty(shares).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
