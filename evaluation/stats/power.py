"""Power analysis: topics and raters needed to detect a difference of two systems.

It starts from the variance components of a study (`mixed_model`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, sqrt

from evaluation.stats.estimate import Estimate
from evaluation.stats.mixed_model import RATER, RESIDUAL, TEXT

ALPHA = 0.05
MAX_TOPICS = 100_000  # topics: beyond it the answer is that there is none
MAX_EFFECT = 1e4  # standard deviations that a difference is looked for in


@dataclass(frozen=True, slots=True)
class Variance:
    """Variance over topics of the difference of two systems, or in `reason` why it is unknown."""

    value: float | None
    reason: str | None = None


def difference_variance(
    components: Mapping[str, float | None], raters: int, *, same_raters: bool
) -> Variance:
    """Return the variance of two systems' difference on a topic, with n raters for each text.

    `components` as `MixedModel` has them. It is 2 x (system and topic + (rater + residual) / raters);
    with `same_raters` the same people read both texts of a topic, and how generous they are falls
    out: 2 x (system and topic + residual / raters). The topic falls out in any case. Unknown for
    other numbers of raters than one where no text of the study had two, and for different raters
    where the study had one. Raises ValueError for fewer than one rater.
    Source: Brennan (2001), Generalizability Theory, chapter 4, for topic x rater designs.
    """
    if raters < 1:
        raise ValueError(f"a text is read by one rater or more, not {raters}")
    text, rater, residual = components[TEXT], components[RATER], components[RESIDUAL] or 0.0
    if rater is None and not same_raters:
        return Variance(None, "the study has one rater, which tells nothing of others")
    if text is None:
        if raters > 1:
            return Variance(None, "no text of the study has two raters")
        text = 0.0  # it is in what is left
    by_chance = residual + (0.0 if same_raters else rater or 0.0)
    return Variance(2 * (text + by_chance / raters))


def power_of(difference: float, variance: float, topics: int) -> float:
    """Return the power of a paired t test over so many topics, two-sided at ALPHA.

    This is the chance that the test finds the difference.

    Raises ValueError for fewer than two topics, or a variance or difference that is not above 0.
    Source: Cohen (1988), Statistical Power Analysis, chapter 2; statsmodels TTestPower.
    """
    from statsmodels.stats.power import TTestPower  # noqa: PLC0415 - a second to load

    if topics < 2 or variance <= 0 or difference <= 0:
        raise ValueError("power takes two topics, and a variance and a difference above 0")
    effect = difference / sqrt(variance)
    power = float(TTestPower().power(effect, topics, ALPHA))
    # Far out SciPy's noncentral t has no number here and there.
    return _integrated(effect * sqrt(topics), topics - 1) if isnan(power) else power


def _integrated(centre: float, degrees: int) -> float:
    """The same chance as a mean over the standard deviations that a sample may have."""
    from scipy.integrate import quad  # noqa: PLC0415
    from scipy.stats import chi, norm, t  # noqa: PLC0415

    limit = t.ppf(1 - ALPHA / 2, degrees) / sqrt(degrees)

    def weighted_power(spread: float) -> float:
        beyond = norm.sf(limit * spread - centre) + norm.cdf(-limit * spread - centre)
        return float(chi.pdf(spread, degrees) * beyond)

    upper = float(chi.isf(1e-12, degrees))
    return min(1.0, float(quad(weighted_power, 0, upper, limit=200, points=[sqrt(degrees)])[0]))


def topics_needed(difference: float, variance: float, power: float) -> Estimate:
    """The fewest topics with which the chance of finding the difference is at least `power`.

    `n` is that number too. Undefined beyond MOST topics. A variance of 0 takes the two topics that
    a test takes. Raises ValueError for a power that is not between 0 and 1, or as `power_of`.
    """
    if not 0 < power < 1:
        raise ValueError(f"a power is between 0 and 1, not {power}")
    if variance == 0:
        return Estimate(2.0, None, 2)
    if power_of(difference, variance, MAX_TOPICS) < power:
        return Estimate(None, f"undefined, because more than {MAX_TOPICS:,} topics are needed", 0)
    low, high = 1, MAX_TOPICS  # the answer is above `low` and at most `high`
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(difference, variance, max(middle, 2)) >= power:
            high = middle
        else:
            low = middle
    return Estimate(float(max(high, 2)), None, max(high, 2))


def smallest_difference(variance: float, topics: int, power: float) -> Estimate:
    """Return the smallest difference that the test detects with this power (MDE).

    `n` counts the topics.

    Undefined with fewer than two topics. Raises ValueError for a power that is not between 0 and 1.
    Source: as `power_of`.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - a second to load

    if not 0 < power < 1:
        raise ValueError(f"a power is between 0 and 1, not {power}")
    if topics < 2:
        return Estimate(None, "undefined, because a test over topics needs two topics", topics)
    if variance == 0 or power <= ALPHA:  # without any difference it is found as often as ALPHA
        return Estimate(0.0, None, topics)
    # statsmodels' own solver stops short where two topics leave one degree of freedom.
    effect = brentq(lambda effect: power_of(effect, 1.0, topics) - power, 1e-9, MAX_EFFECT)
    return Estimate(float(effect) * sqrt(variance), None, topics)
