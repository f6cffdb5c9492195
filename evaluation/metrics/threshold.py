"""Analysis of the threshold eta: coverage of contexts and reports, and system rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.coverage import answerable_questions, coverage
from evaluation.stats.correlation import Correlation, kendall_tau_b
from evaluation.stats.estimate import Estimate, FloatArray


@dataclass(frozen=True, slots=True)
class Spread:
    """Per-system means of one metric over topics, with their mean and standard deviation.

    The `n` of a system counts topics, `missing` those where the metric is undefined; `mean` and
    `sd` (with n - 1) are over systems.
    """

    systems: tuple[Estimate, ...]
    mean: Estimate
    sd: Estimate

    @property
    def values(self) -> FloatArray:
        """The means of the systems, NaN where undefined."""
        return np.array([np.nan if s.value is None else s.value for s in self.systems])


@dataclass(frozen=True, slots=True)
class Threshold:
    """Coverage of contexts and of reports at one threshold, and Kendall's tau of the two."""

    eta: float
    contexts: Spread
    reports: Spread
    tau: Correlation


def threshold_analysis(
    pools: Sequence[ArrayLike],
    contexts: Sequence[Sequence[ArrayLike]],
    reports: Sequence[Sequence[ArrayLike]],
    etas: Sequence[float],
) -> tuple[Threshold, ...]:
    """Return the coverage of all systems' contexts and reports at each threshold.

    As in Table 2 of the paper.

    `pools` holds one matrix per topic, the grades of the relevant passages, passages x questions,
    NaN = unrated; `contexts` and `reports` hold, per topic, one such matrix per system (a report is
    one row). The answerable questions are found again at each eta; a topic without any is left out
    of every mean. Raises ValueError if the lists do not have the same topics and systems.
    Source: CRUX (Ju et al., 2025), Table 2, whose two column heads are swapped in print.
    """
    shape = {len(systems) for systems in (*contexts, *reports)}
    if not len(pools) == len(contexts) == len(reports) or len(shape) > 1:
        raise ValueError("every topic has a pool, and a context and a report of each system")
    return tuple(
        at_threshold(_coverages(pools, contexts, eta), _coverages(pools, reports, eta), eta)
        for eta in etas
    )


def at_threshold(contexts: ArrayLike, reports: ArrayLike, eta: float) -> Threshold:
    """The analysis at one threshold, from coverages that are there already.

    `contexts` and `reports` are topics x systems at this `eta`, NaN = undefined. A system's mean is
    undefined without a topic, their sd with fewer than two systems, tau with fewer than three.
    Raises ValueError for other shapes.
    """
    spreads = [_spread(values) for values in (contexts, reports)]
    tau = kendall_tau_b(spreads[0].values, spreads[1].values)
    return Threshold(eta, spreads[0], spreads[1], tau)


def _coverages(
    pools: Sequence[ArrayLike], rows: Sequence[Sequence[ArrayLike]], eta: float
) -> FloatArray:
    values = [
        [coverage(z, answerable_questions(pool, eta), eta).value for z in systems]
        for pool, systems in zip(pools, rows, strict=True)
    ]
    # None, undefined, becomes NaN.
    return np.array(values, dtype=np.float64).reshape(len(pools), -1)


def _spread(coverages: ArrayLike) -> Spread:
    values = np.asarray(coverages, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"coverages are topics x systems, not {values.shape}")
    systems = tuple(_mean(column, "no topic has answerable questions") for column in values.T)
    means = np.array([np.nan if s.value is None else s.value for s in systems], dtype=np.float64)
    mean = _mean(means, "no system has a mean")
    if mean.n < 2:
        sd = Estimate(
            None, "undefined, because fewer than two systems have a mean", mean.n, mean.missing
        )
    else:
        sd = Estimate(float(np.nanstd(means, ddof=1)), None, mean.n, mean.missing)
    return Spread(systems, mean, sd)


def _mean(values: FloatArray, why_empty: str) -> Estimate:
    defined = values[~np.isnan(values)]
    missing = len(values) - len(defined)
    if len(defined) == 0:
        return Estimate(None, f"undefined, because {why_empty}", 0, missing)
    return Estimate(float(defined.mean()), None, len(defined), missing)
