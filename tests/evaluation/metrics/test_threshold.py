import numpy as np
import pytest

from evaluation.metrics.threshold import at_threshold, threshold_analysis

NAN = np.nan


def test_by_hand():
    # One topic of three questions and three systems. At eta 3 all are answerable; contexts cover
    # 1, 2 and 3 of them, reports 2, 1 and 3: means 2/3 and 2/3, sd of 1/3 2/3 1 is 1/3. Of three
    # pairs of systems two are in the same order: tau = (2 - 1)/3.
    # At eta 5 only question 0 is, which contexts 0 and 2 and reports 0 and 2 answer: means 2/3,
    # sd of 1 0 1 is 1/sqrt(3), tau-b 1.
    pool = [[5, 3, 0], [0, 0, 4]]
    contexts = [[[5, 0, 0]], [[3, 3, 0]], [[5, 0, 0], [0, 3, 3]]]
    reports = [[[5, 3, 0]], [[0, 0, 3]], [[5, 3, 3]]]
    three, five = threshold_analysis([pool], [contexts], [reports], [3, 5])
    assert three.contexts.values.tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert three.reports.values.tolist() == pytest.approx([2 / 3, 1 / 3, 1])
    assert three.contexts.mean.value == pytest.approx(2 / 3)
    assert three.contexts.sd.value == pytest.approx(1 / 3)
    assert three.tau.value == pytest.approx(1 / 3)
    assert (three.eta, five.eta) == (3, 5)
    assert five.contexts.values.tolist() == [1, 0, 1]
    assert five.contexts.sd.value == pytest.approx(3**-0.5)
    assert five.tau.value == pytest.approx(1)


def test_topics_without_answerable_questions_are_left_out_and_counted():
    pools, context = [[[5]], [[2]]], [[5]]
    (result,) = threshold_analysis(pools, [[context], [context]], [[context], [context]], [3])
    (system,) = result.contexts.systems
    assert (system.value, system.n, system.missing) == (1, 1, 1)


def test_ties_lower_tau_b_but_not_tau_a_by_hand():
    # Contexts 1 1 2 3, reports 1 2 3 4 (tenths): 5 concordant pairs of 6 and one tie in x, so
    # tau-b = 5/sqrt(5 x 6); tau-a would be 5/6.
    result = at_threshold([[0.1, 0.1, 0.2, 0.3]], [[0.1, 0.2, 0.3, 0.4]], 3)
    assert result.tau.value == pytest.approx(5 / 30**0.5)


def test_undefined():
    result = at_threshold([[NAN, NAN]], [[0.5, NAN]], 3)
    assert (
        result.contexts.systems[0].reason == "undefined, because no topic has answerable questions"
    )
    assert result.contexts.mean.reason == "undefined, because no system has a mean"
    assert result.reports.sd.reason == "undefined, because fewer than two systems have a mean"
    assert (result.reports.mean.value, result.reports.mean.missing) == (0.5, 1)
    assert result.tau.reason == "undefined, because 0 complete pairs are fewer than three"


def test_refuses():
    with pytest.raises(ValueError, match="every topic has a pool"):
        threshold_analysis([[[5]]], [], [], [3])
    with pytest.raises(ValueError, match="every topic has a pool"):
        threshold_analysis([[[5]]], [[[[5]], [[5]]]], [[[[5]]]], [3])
    with pytest.raises(ValueError, match="topics x systems"):
        at_threshold([0.5], [0.5], 3)
