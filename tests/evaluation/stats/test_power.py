"""evaluation.stats.power"""

import numpy as np
import pytest
import scipy

from evaluation.stats.mixed_model import RATER, RESIDUAL, TEXT, TOPIC
from evaluation.stats.power import (
    difference_variance,
    power_of,
    smallest_difference,
    topics_needed,
)

PARTS = {TOPIC: 0.04, RATER: 0.002, TEXT: 0.006, RESIDUAL: 0.004}


def test_variance_of_a_difference_by_hand():
    # 2 x (0.006 + (0.002 + 0.004) / 3) = 0.016; by the same people 2 x (0.006 + 0.004 / 3).
    assert difference_variance(PARTS, 3, same_raters=False).value == pytest.approx(0.016)
    same = difference_variance(PARTS, 3, same_raters=True).value
    assert same == pytest.approx(0.012 + 0.008 / 3)


def test_unidentifiable_variance_is_unknown():
    one = PARTS | {TEXT: None, RATER: None}
    assert difference_variance(one, 1, same_raters=True).value == pytest.approx(0.008)
    assert "no text of the study has two" in difference_variance(one, 2, same_raters=True).reason
    assert "has one rater" in difference_variance(one, 1, same_raters=False).reason
    with pytest.raises(ValueError, match="one rater or more"):
        difference_variance(PARTS, 0, same_raters=True)


def test_topics_of_a_textbook():
    # Cohen's d of 0.5 in a paired test, 0.05 two-sided, power 0.8: 34 pairs (G*Power says the same).
    assert topics_needed(0.05, 0.01, 0.8).value == 34
    assert power_of(0.05, 0.01, 40_000) == 1  # where the noncentral t has no number
    assert power_of(0.05, 0.01, 34) >= 0.8 > power_of(0.05, 0.01, 33)
    assert smallest_difference(0.01, 34, power_of(0.05, 0.01, 34)).value == pytest.approx(0.05)


@pytest.mark.parametrize("topics", [2, 3, 30])
@pytest.mark.parametrize("power", [0.06, 0.5, 0.8, 0.99])
def test_smallest_difference_has_the_power_that_was_asked_for(topics, power):
    smallest = smallest_difference(4.0, topics, power).value
    assert power_of(smallest, 4.0, topics) == pytest.approx(power, abs=1e-6)


def test_power_is_that_of_the_noncentral_t():
    centre, limit = 0.5 * np.sqrt(20), scipy.stats.t.ppf(0.975, 19)
    by_hand = scipy.stats.nct.sf(limit, 19, centre) + scipy.stats.nct.cdf(-limit, 19, centre)
    assert power_of(0.5, 1.0, 20) == pytest.approx(by_hand)


def test_study_of_studies_finds_it_as_often():
    generator = np.random.default_rng(1)
    samples = generator.normal(0.05, 0.1, (4000, 34))
    p = scipy.stats.ttest_1samp(samples, 0, axis=1).pvalue
    assert (p < 0.05).mean() == pytest.approx(0.81, abs=0.02)


def test_ends():
    assert topics_needed(0.05, 0.0, 0.8).value == 2
    assert topics_needed(9.0, 0.0001, 0.8).value == 2
    assert "more than 100,000 topics" in topics_needed(0.0001, 1.0, 0.8).reason
    assert smallest_difference(0.0, 5, 0.8).value == 0
    assert "a test over topics needs two topics" in smallest_difference(0.1, 1, 0.8).reason
    for wrong in (lambda: topics_needed(0.1, 1, 1.0), lambda: smallest_difference(1, 5, 0)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            wrong()
    with pytest.raises(ValueError, match="two topics"):
        power_of(0.1, 1, 1)
