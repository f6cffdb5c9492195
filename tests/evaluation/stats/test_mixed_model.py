"""Tests of evaluation.stats.mixed_model against ANOVA of balanced values; of equivalence."""

import numpy as np
import pytest
import scipy
from statsmodels.stats.weightstats import ttost_paired

from evaluation.stats import mixed_model as module
from evaluation.stats.equivalence import equivalence
from evaluation.stats.mixed_model import RATER, RESIDUAL, TEXT, TOPIC, mixed_model

SYSTEMS, TOPICS, RATERS = 3, 8, 3


def balanced(seed=4):
    """Systems x topics x raters, with every part in it."""
    generator = np.random.default_rng(seed)
    shape = (SYSTEMS, TOPICS, RATERS)
    return (
        np.array([0.3, 0.5, 0.5])[:, None, None]
        + generator.normal(0, 0.2, (1, TOPICS, 1))
        + generator.normal(0, 0.1, (1, 1, RATERS))
        + generator.normal(0, 0.1, (SYSTEMS, TOPICS, 1))
        + generator.normal(0, 0.05, shape)
    )


def fitted(cube, base="s0"):
    system, topic, rater = np.indices(cube.shape)
    names = [f"s{index}" for index in system.ravel().tolist()]
    return mixed_model(cube.ravel(), names, topic.ravel().tolist(), rater.ravel().tolist(), base)


def test_balanced_values_give_the_analysis_of_variance():
    # Where nothing is missing, REML has the classical answers: differences of means, and variances
    # from the mean squares of each part.
    cube = balanced()
    model = fitted(cube)
    assert model.reason is None
    means, cells = cube.mean(axis=(1, 2)), cube.mean(axis=2)
    inter = cells - means[:, None] - cells.mean(axis=0) + cells.mean()
    ms_text = RATERS * (inter**2).sum() / ((SYSTEMS - 1) * (TOPICS - 1))
    by_rater = cube.mean(axis=(0, 1))
    residuals = cube - cells[:, :, None] - by_rater + cube.mean()
    ms_rest = (residuals**2).sum() / ((RATERS - 1) * (SYSTEMS * TOPICS - 1))
    ms_topic = SYSTEMS * RATERS * cells.mean(axis=0).var(ddof=1)
    ms_rater = SYSTEMS * TOPICS * by_rater.var(ddof=1)
    assert model.components == {
        TOPIC: pytest.approx((ms_topic - ms_text) / (SYSTEMS * RATERS), rel=1e-3),
        RATER: pytest.approx((ms_rater - ms_rest) / (SYSTEMS * TOPICS), rel=1e-3),
        TEXT: pytest.approx((ms_text - ms_rest) / RATERS, rel=1e-3),
        RESIDUAL: pytest.approx(ms_rest, rel=1e-3),
    }
    first, second = model.contrasts
    reach = scipy.stats.t.ppf(0.975, TOPICS - 1) * np.sqrt(2 * ms_text / (RATERS * TOPICS))
    assert first.difference.value == pytest.approx(means[1] - means[0])
    assert first.difference.high - first.difference.value == pytest.approx(reach, rel=1e-3)
    assert (first.difference.n, first.difference.missing) == (TOPICS, 0)
    # Holm: the smaller p counts twice.
    assert min(first.p_holm, second.p_holm) == pytest.approx(2 * min(first.p, second.p))


def test_unidentifiable_component_is_left_out():
    one = fitted(balanced()[:, :, :1])
    assert one.components[RATER] is None
    assert one.components[TEXT] is None
    assert one.contrasts[0].difference.low is not None


def test_part_that_does_not_vary_is_nothing():
    cube = balanced()
    cube = cube - cube.mean(axis=(0, 1)) + cube.mean()  # all raters alike on average
    assert fitted(cube).components[RATER] == 0


def test_missing_values_are_taken_as_they_are():
    cube = balanced()
    system, topic, rater = (index.ravel() for index in np.indices(cube.shape))
    is_present = ~((system == 1) & (topic == 2))
    names = [f"s{index}" for index in system[is_present]]
    model = mixed_model(cube.ravel()[is_present], names, topic[is_present], rater[is_present], "s0")
    assert [model.contrasts[0].difference.n, model.contrasts[0].difference.missing] == [7, 1]


@pytest.mark.parametrize(
    ("cube", "reason"),
    [
        (balanced()[:1], "takes two systems with finished values, and there is one"),
        (balanced()[:, :2], "takes three of them, and there are 2"),
        (np.full((2, 3, 2), 0.5), "all values are the same"),
        (np.zeros((0, 3, 2)), "two systems with finished values, and there are 0"),
    ],
)
def test_undefined_says_why(cube, reason):
    model = fitted(cube)
    assert model.reason.startswith("undefined, because ")
    assert reason in model.reason
    assert model.contrasts == ()


def test_too_many_texts_are_refused(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 20)
    assert "24 texts are more than the 20" in fitted(balanced()).reason


@pytest.mark.parametrize(
    ("values", "systems", "base"),
    [([1.0], ["a", "b"], "a"), ([np.nan], ["a"], "a"), ([1.0], ["a"], "b")],
)
def test_wrong_input(values, systems, base):
    with pytest.raises(ValueError, match=r"."):
        mixed_model(values, systems, [1] * len(systems), [1] * len(systems), base)


def test_equivalence_by_hand():
    # Differences 0, 0.02, -0.02, 0.04, missing: mean 0.01, sd 0.02582, se 0.01291. Against 0.05:
    # t = (0.01 - 0.05) / 0.01291 = -3.098 with 3 degrees of freedom, p = 0.0267; the other is smaller.
    first, second = [0.5, 0.52, 0.48, 0.54, np.nan], [0.5, 0.5, 0.5, 0.5, 0.5]
    result = equivalence(first, second, 0.05)
    assert result.p == pytest.approx(0.0267, abs=1e-4)
    assert result.p == pytest.approx(ttost_paired(np.array(first[:4]), second[:4], -0.05, 0.05)[0])
    assert (result.value, result.n, result.missing) == (pytest.approx(0.01), 4, 1)
    # 90%: 0.01 +- 2.3534 x 0.01291.
    assert (result.low, result.high) == pytest.approx((-0.02038, 0.04038), abs=1e-5)
    assert equivalence(first, second, 0.03).p > 0.05


def test_equivalence_that_is_undefined():
    assert "no topic" in equivalence([np.nan], [1], 0.1).reason
    same = equivalence([0.1, 0.2], [0.1, 0.2], 0.1)
    assert (same.value, same.p) == (0, None)
    assert "the same on every topic" in same.p_reason
    assert "one topic" in equivalence([0.1], [0.2], 0.1).interval_reason
    for margin in (0, -1, np.nan):
        with pytest.raises(ValueError, match="margin"):
            equivalence([1], [1], margin)
