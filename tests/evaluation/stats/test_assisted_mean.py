import numpy as np
import pytest
from scipy import stats

from evaluation.stats.assisted_mean import (
    assisted_mean,
    forecast_error,
    sampling_variance,
    topic_means,
)
from evaluation.stats.prediction_powered import ppi_mean
from evaluation.stats.sampling import probabilities, systematic

NAN = np.nan
GENERATOR = np.random.default_rng(3)


def test_by_hand():
    # Judge 0.4, 0.6, 0.5, 0.7, each drawn with probability 1/2; people say 0.6 and 0.7 of the first
    # two: 0.4 + 0.2 x 2 = 0.8, 0.6 + 0.1 x 2 = 0.8. Values 0.8, 0.8, 0.5, 0.7: mean 0.7.
    estimate = assisted_mean([0.4, 0.6, 0.5, 0.7], [0.6, 0.7, NAN, NAN], [0.5] * 4, list("abcd"))
    assert (estimate.n, estimate.missing) == (2, 0)
    assert estimate.value == pytest.approx(0.7)
    # What the labels add is 0.1 and 0.05; of two with equal chances the sample's variance is
    # n (1 - n/N) s^2 = 2 x 1/2 x 0.00125. Of the topics: the judge's variance is 1/60. The gaps are
    # off their mean by 0.05 and -0.05, over the chances by 0.1 and -0.1: squares (0.01 + 0.01)/4 less
    # half of that for chance; with the judge, off its mean by -0.15 and 0.05, 2 x (-0.015 - 0.005)/4.
    # Both over 1 - 1/2, as two topics have a label; all of it over 4.
    variance = 0.00125 + (1 / 60 + (0.0025 - 0.01) / 0.5) / 4
    reach = stats.t.ppf(0.975, 1) * np.sqrt(variance)
    assert (estimate.low, estimate.high) == pytest.approx((0.7 - reach, 0.7 + reach))


def test_all_labelled_is_t_over_topics():
    human, topics = np.array([0.2, 0.6, 0.9, 0.5, 0.1]), list("aabbc")
    estimate = assisted_mean([0.3, 0.3, 0.3, 0.9, 0.8], human, [1] * 5, topics)
    means = np.array([0.4, 0.7, 0.1])
    reach = stats.t.ppf(0.975, 2) * means.std(ddof=1) / np.sqrt(3)
    assert estimate.value == pytest.approx(0.4)
    assert (estimate.low, estimate.high) == pytest.approx((0.4 - reach, 0.4 + reach))


def test_with_equal_chances_and_a_judge_that_says_nothing_it_is_people_alone():
    human = np.array([0.2, 0.6, 0.9, 0.5, NAN, NAN, NAN])
    estimate = assisted_mean(np.full(7, 0.3), human, np.full(7, 4 / 7), range(7))
    labelled_values = human[:4]
    reach = stats.t.ppf(0.975, 3) * labelled_values.std(ddof=1) / 2
    assert estimate.value == pytest.approx(labelled_values.mean())
    assert (estimate.low, estimate.high) == pytest.approx(
        (labelled_values.mean() - reach, labelled_values.mean() + reach)
    )


def test_with_equal_chances_it_is_prediction_powered():
    # The judge's mean of all is (n F + N U)/(n + N): its whole weight is lam = N/(n + N) of U's.
    human, judge = GENERATOR.uniform(0, 1, 400), GENERATOR.uniform(0, 0.2, 1600)
    judge[:400] = np.clip(human + judge[:400], 0, 1)
    judge[400:] = np.clip(GENERATOR.uniform(0, 1, 1200) + judge[400:], 0, 1)
    labels = np.concatenate([human, np.full(1200, NAN)])
    estimate = assisted_mean(judge, labels, np.full(1600, 400 / 1600), range(1600))
    theirs = ppi_mean(human, judge[:400], judge[400:], lam=1200 / 1600)
    assert estimate.value == pytest.approx(theirs.value)
    # The widths differ by how they estimate the judge's variance: from all, from the unlabelled.
    assert estimate.high - estimate.low == pytest.approx(theirs.high - theirs.low, rel=0.02)


def test_text_without_probability_is_left_out_and_counted():
    both = [0.4, 0.6, 0.5], [0.6, 0.5, NAN], [0.5, 0.5, 0.5], ["a", "b", "c"]
    more = [0.9, NAN], [NAN, 0.1], [NAN, 1], ["d", "e"]
    estimate = assisted_mean(*([*column, *extra] for column, extra in zip(both, more, strict=True)))
    without_extra = assisted_mean(*both)
    assert (estimate.value, estimate.low, estimate.n) == (
        without_extra.value,
        without_extra.low,
        without_extra.n,
    )
    assert (estimate.missing, without_extra.missing) == (2, 0)


def test_part_of_a_draw_is_unbiased_and_knows_the_draw():
    judge, human = GENERATOR.uniform(0, 1, 40), GENERATOR.uniform(0, 1, 40)
    inside, topics = np.arange(40) % 2 == 0, np.arange(40) // 2
    chances = probabilities(np.linspace(0.1, 1, 40), 14)
    estimates = [
        assisted_mean(judge, labelled(human, chances, seed), chances, topics, inside=inside)
        for seed in range(1000)
    ]
    values, highs = np.array([(estimate.value, estimate.high) for estimate in estimates]).T
    off = values - human[inside].mean()
    assert abs(off.mean()) < 4 * off.std() / np.sqrt(1000)
    # Of one and the same set of texts the interval, which is for more topics than these, is too wide.
    assert (np.abs(off) <= highs - values).mean() > 0.95


def labelled(human, chances, seed):
    labels = np.full(len(human), NAN)
    sample = systematic(chances, seed)
    labels[sample] = human[sample]
    return labels


def test_variance_of_a_draw_with_equal_chances_is_the_textbooks():
    # Parts 1, 2, 6 of 3 of 12: n (1 - n/N) s^2 = 3 x 3/4 x 7.
    assert sampling_variance([1, 2, 6], [0.25] * 3) == pytest.approx(3 * 0.75 * 7)


def test_equal_parts_of_a_sample_of_fixed_size_have_no_variance():
    assert sampling_variance([2, 2, 2], [0.1, 0.5, 0.9]) == 0


def test_sampling_variance_is_the_spread_over_samples():
    chances = probabilities(np.linspace(0.2, 2, 25) ** 2, 8)
    values = GENERATOR.uniform(0, 1, 25) + np.linspace(0, 1, 25)
    sums, variances = [], []
    for seed in range(3000):
        sample = systematic(chances, seed)
        chance = sample[chances[sample] < 1]
        sums.append((values[sample] / chances[sample]).sum())
        variances.append(sampling_variance(values[chance] / chances[chance], chances[chance]))
    # The standard error of the first is 2.6%; Deville's is an approximation, and known to be close.
    assert np.mean(variances) == pytest.approx(np.var(sums), rel=0.12)


def test_single_text_has_no_sampling_variance():
    with pytest.raises(ValueError, match="two texts"):
        sampling_variance([1], [0.5])


@pytest.mark.parametrize(
    ("human", "chances", "reason"),
    [
        ([0.2, NAN, NAN], [0.4, 0.3, 0.3], "fewer than two topics have a label"),
        ([0.2, 0.4, NAN], [1, 0.5, 0.5], "fewer than two texts were drawn"),
    ],
)
def test_too_few_labels_have_no_interval(human, chances, reason):
    estimate = assisted_mean([0.2, 0.5, 0.6], human, chances, ["a", "b", "c"])
    assert estimate.value is not None
    assert estimate.low is None
    assert reason in estimate.interval_reason


def test_texts_of_a_topic_are_one_unit():
    estimate = assisted_mean([0.2, 0.4, 0.9], [0.2, 0.4, NAN], [1, 1, 1], ["a", "a", "b"])
    assert estimate.value == pytest.approx((0.3 + 0.9) / 2)


def test_without_a_label_it_is_undefined():
    estimate = assisted_mean([0.2, NAN], [NAN, 0.5], [0.5, 0.5], ["a", "b"])
    assert estimate.value is None
    assert "no drawn text is labelled" in estimate.reason
    assert (estimate.n, estimate.missing) == (0, 1)


def test_single_topic_has_no_interval():
    estimate = assisted_mean([0.2], [0.4], [1], ["a"])
    assert estimate.value == pytest.approx(0.4)
    assert "fewer than two topics" in estimate.interval_reason


@pytest.mark.parametrize("chances", [[0, 1], [1.2, 1], [NAN, 1]])
def test_label_without_a_chance_is_refused(chances):
    with pytest.raises(ValueError, match="probability above 0"):
        assisted_mean([0.2, 0.3], [0.4, NAN], chances, ["a", "b"])


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one entry for every text"):
        assisted_mean([0.2, 0.3], [0.4], [1], ["a"])


def test_mean_is_unbiased_with_a_biased_judge_and_uneven_draws():
    generator = np.random.default_rng(7)
    human = generator.uniform(0, 1, 60)
    judge = np.clip(human + 0.3, 0, 1)  # always too kind
    chances = probabilities(np.linspace(0.1, 1, 60), 15)
    means = []
    for seed in range(2000):
        sample = systematic(chances, seed)
        labels = np.full(60, NAN)
        labels[sample] = human[sample]
        means.append(assisted_mean(judge, labels, chances, np.arange(60)).value)
    assert np.mean(means) == pytest.approx(human.mean(), abs=4 * np.std(means) / np.sqrt(2000))


def test_topic_means():
    assert topic_means([1.0, 2.0, 4.0], ["b", "a", "b"]).tolist() == [2.0, 2.5]


def test_forecast_by_hand():
    # Values 0, 1: variance 1/2, over 2 texts 1/4. Gaps 0.4 with chance 1/2: (2 - 1) x 0.16/4 = 0.04.
    assert forecast_error([0, 1], [0.4, 0], [0.5, 1]) == pytest.approx(np.sqrt(0.25 + 0.04))
