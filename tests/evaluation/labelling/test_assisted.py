import numpy as np
import pytest
from scipy import stats

from evaluation.labelling.assisted import assisted_mean, forecast_error, topic_means
from evaluation.labelling.draw import probabilities, systematic

NAN = np.nan


def test_by_hand():
    # Judge 0.4, 0.6, 0.5; the first was drawn with probability 1/2 and people say 0.6:
    # 0.4 + 0.2 x 2 = 0.8. Values 0.8, 0.6, 0.5: mean 1.9/3, standard deviation over three topics.
    found = assisted_mean([0.4, 0.6, 0.5], [0.6, NAN, NAN], [0.5, 0.5, 0.5], ["a", "b", "c"])
    values = np.array([0.8, 0.6, 0.5])
    reach = stats.t.ppf(0.975, 2) * values.std(ddof=1) / np.sqrt(3)
    assert (found.n, found.missing) == (1, 0)
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))


def test_texts_of_a_topic_are_one_unit():
    found = assisted_mean([0.2, 0.4, 0.9], [0.2, 0.4, NAN], [1, 1, 1], ["a", "a", "b"])
    assert found.value == pytest.approx((0.3 + 0.9) / 2)


def test_without_a_label_it_is_undefined():
    found = assisted_mean([0.2, NAN], [NAN, 0.5], [0.5, 0.5], ["a", "b"])
    assert found.value is None
    assert "no drawn text is labelled" in found.reason
    assert (found.n, found.missing) == (0, 1)


def test_one_topic_has_no_interval():
    found = assisted_mean([0.2], [0.4], [1], ["a"])
    assert found.value == pytest.approx(0.4)
    assert "fewer than two topics" in found.interval_reason


@pytest.mark.parametrize("chances", [[0, 1], [1.2, 1], [NAN, 1]])
def test_a_label_without_a_chance_is_refused(chances):
    with pytest.raises(ValueError, match="probability above 0"):
        assisted_mean([0.2, 0.3], [0.4, NAN], chances, ["a", "b"])


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one entry for every text"):
        assisted_mean([0.2, 0.3], [0.4], [1], ["a"])


def test_it_is_unbiased_though_the_judge_is_not_and_draws_are_uneven():
    generator = np.random.default_rng(7)
    human = generator.uniform(0, 1, 60)
    judge = np.clip(human + 0.3, 0, 1)  # always too kind
    chances = probabilities(np.linspace(0.1, 1, 60), 15)
    means = []
    for seed in range(2000):
        drawn = systematic(chances, seed)
        said = np.full(60, NAN)
        said[drawn] = human[drawn]
        means.append(assisted_mean(judge, said, chances, np.arange(60)).value)
    assert np.mean(means) == pytest.approx(human.mean(), abs=4 * np.std(means) / np.sqrt(2000))


def test_topic_means():
    assert topic_means([1.0, 2.0, 4.0], ["b", "a", "b"]).tolist() == [2.0, 2.5]


def test_forecast_by_hand():
    # Values 0, 1: variance 1/2, over 2 texts 1/4. Gaps 0.4 with chance 1/2: (2 - 1) x 0.16/4 = 0.04.
    assert forecast_error([0, 1], [0.4, 0], [0.5, 1]) == pytest.approx(np.sqrt(0.25 + 0.04))
