"""The mean of a metric over topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from evaluation.agreement.estimate import Estimate


def mean_over_topics(found: Sequence[Estimate], level: float = 0.95) -> Estimate:
    """The mean over the topics where the metric is defined, with a t interval over topics.

    `n` counts these topics, `missing` the others. The interval is mean +- t(n - 1) x sd / sqrt(n),
    sd with n - 1, not clamped; there is none with fewer than two defined topics. None defined:
    undefined, for the topics' reason where it is one and the same, else with the first of them.
    """
    values = np.array([one.value for one in found if one.value is not None])
    n, missing = len(values), len(found) - len(values)
    if not n:
        return Estimate(None, _why([one.reason for one in found if one.reason]), 0, missing)
    mean = float(values.mean())
    if n < 2:
        why = "no interval, because there are fewer than two topics"
        return Estimate(mean, None, n, missing, interval_reason=why)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, None, n, missing, low=mean - reach, high=mean + reach)


def _why(reasons: Sequence[str]) -> str:
    if len(set(reasons)) == 1:
        return reasons[0]
    if not reasons:
        return "undefined, because it has no topic"
    first = reasons[0].removeprefix("undefined, because ")
    return f"undefined, because no topic has a value; on the first of them {first}"
