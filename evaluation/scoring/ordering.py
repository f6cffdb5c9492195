"""Agreement of two metrics on the order of systems, with uncertainty over topics."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from evaluation.stats.clusters import leave_one_out_sums
from evaluation.stats.correlation import Correlation, kendall_tau_b
from evaluation.stats.estimate import FloatArray
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.pair_orders import ROUNDING, Reversals, reversals

MAX_SYSTEMS = 100  # systems whose order has an interval: the work grows with their square
# When there is an interval, since else it holds too seldom (docs/metrics.md, Intervals).
FEWEST = 15  # topics
SEPARATED = 0.5  # of the pairs of systems, at least
BLOCK = 2_000_000  # signs held at once

PAIR_COUNTS = ("pairs_reversed", "pairs_separated", "pairs")


@dataclass(frozen=True, slots=True)
class OrderAgreement(Correlation):
    """Kendall's tau-b of the orders of systems by two metrics; `n` counts systems.

    `missing` counts those left out.

    `reversals` counts the pairs of systems that one metric separates and the other reverses, None
    where tau is undefined or a metric has one topic alone. `n_topics` have a value of either metric.
    """

    reversals: Reversals | None = None
    n_topics: int = 0

    @property
    def pair_counts(self) -> tuple[int | None, int | None, int | None]:
        """The counts of PAIR_COUNTS."""
        pairs = self.reversals
        return (pairs.reversed, pairs.separated, pairs.pairs) if pairs else (None, None, None)


def comparable(values: FloatArray) -> FloatArray:
    """`values`, topics x systems, with NaN throughout for a system that lacks some topic.

    The mean of a system over other topics than the others' says as much about the topics as about
    the system. A topic on which the metric is undefined for every system is none of them.
    """
    defined = ~np.isnan(values)
    is_used = defined.any(axis=1)
    return np.where(defined[is_used].all(axis=0), values, np.nan)


def means(values: FloatArray) -> FloatArray:
    """The mean of each system over its topics, NaN for one without any: one value a system."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    sums = np.where(defined, values, 0.0).sum(axis=0)
    return np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)


def order_agreement(
    x: FloatArray, y: FloatArray, *, fewest: int = FEWEST, separated: float = SEPARATED
) -> OrderAgreement:
    """Kendall's tau-b between the systems' means of two metrics.

    `x` and `y` are topics x systems, NaN = undefined. Within each metric only systems are compared
    that have all of its topics; `n` counts those that both metrics compare, `missing` the others.
    The interval is the delete-one-topic jackknife with Student's t, within -1 and 1: systems stay the
    same ones. There is one from `fewest` topics on, where at least the share `separated` of the pairs of
    systems is separated, and up to MOST systems. Noise of the topics lowers tau, the more the closer the
    systems; a bootstrap, whose resamples add noise, is too narrow. Undefined, and without an interval,
    as `kendall_tau_b` and `jackknife_interval` say.
    Source: CRUX (Ju et al., 2025), section 4.2; Kendall (1945), Biometrika 33(3), 239-251.
    """
    first, second = comparable(x), comparable(y)
    by_mean = [np.round(means(values), ROUNDING) for values in (first, second)]
    correlation = kendall_tau_b(*by_mean)
    tau = OrderAgreement(**{f.name: getattr(correlation, f.name) for f in fields(correlation)})
    if tau.n < 3:
        have = "1 system has" if tau.n == 1 else f"{tau.n} systems have"
        reason = f"undefined, because {have} both on all topics, and three are needed"
        return replace(tau, reason=reason)
    both = ~np.isnan(by_mean).any(axis=0)
    first, second = first[:, both], second[:, both]
    has = ~np.isnan(first).all(axis=1), ~np.isnan(second).all(axis=1)
    n_topics = int((has[0] | has[1]).sum())
    if tau.value is None:
        return replace(tau, n_topics=n_topics)
    tau = replace(tau, n_topics=n_topics, reversals=reversals(first[has[0]], second[has[1]]))
    if obstacle := _why_no_interval(tau, fewest, separated):
        return replace(tau, interval_reason=f"no interval, because {obstacle}")
    sums = np.nan_to_num(np.stack([first, second], axis=1))[has[0] | has[1]]
    with_interval = jackknife_interval(tau, _tau_of_sums(leave_one_out_sums(sums))).within(-1, 1)
    assert isinstance(with_interval, OrderAgreement)
    return with_interval


def _why_no_interval(tau: OrderAgreement, fewest: int, separated: float) -> str:
    if tau.n > MAX_SYSTEMS:
        return f"there are over {MAX_SYSTEMS} systems"
    if tau.n_topics < fewest:
        these = "this topic" if tau.n_topics == 1 else f"these {tau.n_topics} topics"
        return f"it is of {these} alone: with fewer than {fewest} none holds"
    pairs = tau.reversals
    if pairs is not None and pairs.separated < separated * pairs.pairs:
        return (
            f"the topics separate {pairs.separated} of {pairs.pairs} pairs of systems: where it is less "
            "than half, none holds"
        )
    return ""


def _tau_of_sums(sums: FloatArray) -> FloatArray:
    """Tau-b of each set of sums: sets x 2 x systems. Sums over the same topics order as means."""
    first, second = np.triu_indices(sums.shape[2], 1)
    size = max(1, BLOCK // max(len(first), 1))
    return np.concatenate(
        [_tau(sums[start : start + size], first, second) for start in range(0, len(sums), size)]
    )


def _tau(sums: FloatArray, first: np.ndarray, second: np.ndarray) -> FloatArray:
    rounded = np.round(sums, ROUNDING)
    x, y = np.moveaxis(np.sign(rounded[:, :, first] - rounded[:, :, second]), 1, 0)
    pairs = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.divide((x * y).sum(axis=1), pairs, out=np.full(len(sums), np.nan), where=pairs > 0)
