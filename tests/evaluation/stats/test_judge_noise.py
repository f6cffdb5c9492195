"""Noise of a judge: shares by hand, and errors by topic beside statsmodels."""

import numpy as np
import pytest
import scipy
import statsmodels.api as sm

from evaluation.stats.judge_noise import (
    NO_REPLY,
    NO_SPREAD,
    NO_VARIANCE,
    ONE_TOPIC,
    PairedGrades,
    half_width_of_mean,
    mean_change,
    share_of_changes,
    share_of_rises,
    share_of_unstable_pairs,
    within_pair_sd,
)

NAN = np.nan


def paired(original, repeated, topics):
    return PairedGrades(
        np.array(original, float), np.array(repeated, float), np.array(topics, np.int64)
    )


@pytest.fixture
def grades():
    """Four pairs of two topics: 5 replies of 8 are graded, and 3 of these differ."""
    return paired([3, 3, 5, 1], [[3, 4], [2, NAN], [5, 4], [NAN, NAN]], [1, 1, 2, 2])


def test_shares_count_graded_replies_alone(grades):
    changes, rises = share_of_changes(grades), share_of_rises(grades)
    assert (changes.value, changes.n, changes.missing) == (pytest.approx(3 / 5), 5, 3)
    assert (rises.value, rises.n) == (pytest.approx(1 / 5), 5)
    # Topic 1 has 2 of 3, topic 2 has 1 of 2: residuals of 2 - 9/5 = 1/5 and 1 - 6/5 = -1/5.
    variance = 2 * (1 / 25 + 1 / 25) / 25
    t = scipy.stats.t.ppf(0.975, [4, 1])
    size = min(5, 6 / 25 / variance * (t[0] / t[1]) ** 2)
    assert size < 5
    beta = scipy.stats.beta
    assert changes.low == pytest.approx(beta.ppf(0.025, 0.6 * size, 0.4 * size + 1))
    assert changes.high == pytest.approx(beta.ppf(0.975, 0.6 * size + 1, 0.4 * size))


def test_no_change_has_the_exact_interval_of_its_pairs():
    grades = paired(np.full(12, 3), np.full((12, 3), 3), np.arange(12) % 4)
    changes, pairs = share_of_changes(grades), share_of_unstable_pairs(grades)
    assert (changes.value, changes.n, changes.low) == (0, 36, 0)
    assert changes.high == pairs.high == pytest.approx(1 - 0.025 ** (1 / 12))
    all_changed = paired(np.full(12, 3), np.full((12, 3), 2), np.arange(12) % 4)
    assert share_of_changes(all_changed).low == pytest.approx(0.025 ** (1 / 12))
    assert share_of_rises(all_changed).value == 0
    assert (within_pair_sd(grades).value, within_pair_sd(grades).interval_reason) == (0, NO_SPREAD)
    assert (mean_change(all_changed).value, mean_change(all_changed).interval_reason) == (
        -1,
        NO_SPREAD,
    )


def test_pair_with_any_change_is_unstable(grades):
    pairs = share_of_unstable_pairs(grades)
    assert (pairs.value, pairs.n, pairs.missing) == (1, 3, 1)


def test_within_pair_sd_pools_the_squares_of_pairs(grades):
    spread = within_pair_sd(grades)
    # 3 3 4: 2/3 with 2 degrees; 3 2: 1/2 with 1; 5 5 4: 2/3 with 2; the last has none.
    assert spread.value == pytest.approx(np.sqrt((2 / 3 + 1 / 2 + 2 / 3) / 5))
    assert (spread.n, spread.missing) == (3, 1)


def test_half_width_of_a_mean_falls_with_its_pairs(grades):
    variance = (2 / 3 + 1 / 2 + 2 / 3) / 5
    expected = scipy.stats.t.ppf(0.975, 5) * np.sqrt(variance / 100)
    assert half_width_of_mean(grades, 100).value == pytest.approx(expected)
    binary = grades.as_binary(3)
    assert half_width_of_mean(binary, 1).value == pytest.approx(
        scipy.stats.t.ppf(0.975, 5) * np.sqrt((1 / 2) / 5)
    )
    with pytest.raises(ValueError, match="at least one pair"):
        half_width_of_mean(grades, 0)


def test_half_width_covers_the_mean_of_a_noisy_judge():
    """Of simulated judges with noise of SD 1, 95% of the means asked again are within reach."""
    random = np.random.default_rng(0)
    hits = []
    for _ in range(400):
        truth = random.normal(size=50)
        noise = random.normal(size=(50, 4))
        grades = paired(truth + noise[:, 0], truth[:, None] + noise[:, 1:], np.arange(50))
        mean_of_noise = random.normal(size=200).mean()
        hits.append(abs(mean_of_noise) <= half_width_of_mean(grades, 200).value)
    assert 0.92 <= np.mean(hits) <= 0.98


def test_mean_change_has_the_errors_of_statsmodels():
    random = np.random.default_rng(1)
    topics = np.repeat(np.arange(8), 5)
    original = random.integers(0, 6, 40)
    changed = original + random.integers(-1, 3, 40) + (topics % 2)
    estimate = mean_change(paired(original, changed[:, None], topics))
    model = sm.OLS(changed - original, np.ones(40))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": topics}, use_t=True)
    low, high = fit.conf_int()[0]
    assert estimate.value == pytest.approx(fit.params[0])
    assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))


def test_mean_change_of_one_topic_has_no_interval():
    grades = paired([1, 2], [[2], [2]], [7, 7])
    estimate = mean_change(grades)
    assert (estimate.value, estimate.low, estimate.interval_reason) == (0.5, None, ONE_TOPIC)
    assert share_of_changes(grades).interval_reason == ONE_TOPIC


def test_without_a_graded_reply_everything_is_undefined():
    grades = paired([1, 2], [[NAN], [NAN]], [7, 8])
    assert share_of_changes(grades).reason == NO_REPLY
    assert share_of_unstable_pairs(grades).reason == NO_REPLY
    assert mean_change(grades).reason == NO_REPLY
    assert within_pair_sd(grades).reason == half_width_of_mean(grades, 5).reason == NO_VARIANCE
    empty = paired([], np.zeros((0, 3)), [])
    assert share_of_changes(empty).reason == mean_change(empty).reason == NO_REPLY
    assert within_pair_sd(empty).reason == NO_VARIANCE
