"""Cluster bootstrap intervals: whole topics are drawn again, never their items.

A statistic that is a function of sums over items (Fleiss' kappa, Cohen's kappa, a mean, precision)
needs the sums of each topic once. A resample is how often each topic was drawn, so the sums of all
resamples are one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, IntArray

# Takes a stack of sums (resamples x the shape of one topic's sums) and returns one value each,
# NaN where undefined.
StatisticOfSums = Callable[[FloatArray], FloatArray]

RESAMPLES = 10_000
CAUTION = (
    "with few topics it contains the true value too rarely: 0.84 of the time with 5, 0.91 with 10"
)
# How many draws are held at a time: few enough for a processor's cache.
BLOCK = 100_000


@dataclass(frozen=True, slots=True)
class Bootstrap(Estimate):
    """A statistic with the percentile interval of its resamples.

    `se` is the standard deviation of the defined resamples; `n_undefined` of `n_resamples` had no
    value and are in neither. `seed` is the one that drew them, None if they came from elsewhere.
    """

    se: float | None = None
    n_clusters: int = 0
    n_resamples: int = 0
    n_undefined: int = 0
    seed: int | None = None

    @property
    def caution(self) -> str | None:
        """Return the caution to print beside the interval; None without an interval."""
        return None if self.low is None else CAUTION


def cluster_bootstrap(
    whole: Estimate,
    sums: ArrayLike,
    statistic: StatisticOfSums,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Bootstrap:
    """`whole` with the percentile interval from drawing as many clusters as there are, again.

    `sums` has one row (or matrix) a cluster, of terms that add up over items, such as
    `fleiss.item_terms`; `statistic` takes a stack of such sums and returns one value each, NaN
    where undefined, such as `fleiss.kappa_from_sums`. Draws are NumPy's default generator with
    `seed`. What the interval is, and when there is none, is said in `bootstrap_interval`. Raises
    ValueError for sums without a first axis, resamples < 1, or as `bootstrap_interval`.
    Source: Field and Welsh (2007), Journal of the Royal Statistical Society B 69(3), 369-390; sums
    and multinomial weights: Efron and Tibshirani (1993), An Introduction to the Bootstrap, 20.
    """
    rows = np.asarray(sums, dtype=np.float64)
    if rows.ndim < 2:
        raise ValueError(f"sums are clusters x terms, not {rows.shape}")
    if resamples < 1:
        raise ValueError(f"at least one resample is needed, not {resamples}")
    values = np.empty(0)
    if len(rows) > 1:
        generator = np.random.default_rng(seed)
        block = max(1, BLOCK // len(rows))
        sizes = [min(block, resamples - start) for start in range(0, resamples, block)]
        draws = (generator.integers(0, len(rows), (size, len(rows))) for size in sizes)
        values = np.concatenate(
            [statistic(resampled_sums(rows, block_draws)) for block_draws in draws]
        )
    return bootstrap_interval(whole, values, len(rows), level=level, seed=seed)


def resampled_sums(sums: FloatArray, draws: IntArray) -> FloatArray:
    """The sums of each resample: resamples x the shape of one cluster's sums.

    `sums` has one row (or matrix) a cluster, `draws` is resamples x draws of cluster numbers.
    """
    clusters, size = len(sums), len(draws)
    offsets = clusters * np.arange(size)[:, np.newaxis]
    weights = np.bincount((draws + offsets).ravel(), minlength=size * clusters)
    product = weights.reshape(size, clusters).astype(np.float64) @ sums.reshape(clusters, -1)
    return product.reshape(size, *sums.shape[1:])


def bootstrap_interval(
    whole: Estimate,
    values: ArrayLike,
    n_clusters: int,
    *,
    level: float = 0.95,
    seed: int | None = None,
) -> Bootstrap:
    """`whole` with the percentile interval of the resamples' `values`, NaN where undefined.

    The limits are quantiles by linear interpolation (Hyndman and Fan's type 7) over the defined
    resamples; the others are counted, never replaced. There is no interval, and `interval_reason`
    says so, if the value is undefined, with fewer than two clusters, or if no resample is defined.
    With few clusters it is too narrow (CAUTION), as for a mean, where it is z in the place of t.
    Raises ValueError if `level` is not between 0 and 1.
    Source: Efron and Tibshirani (1993), chapter 13; Hyndman and Fan (1996), The American
    Statistician 50(4), 361-365.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, not {level}")
    resampled = np.asarray(values, dtype=np.float64)
    defined = resampled[~np.isnan(resampled)]
    low = high = se = interval_reason = None
    if whole.value is None:
        interval_reason = "no interval, because the value itself is undefined"
    elif n_clusters < 2:
        interval_reason = "no interval, because there are fewer than two clusters"
    elif not len(defined):
        interval_reason = f"no interval, because none of {len(resampled)} resamples has a value"
    else:
        low, high = (float(q) for q in np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
        se = float(defined.std(ddof=1)) if len(defined) > 1 else None
    return Bootstrap(
        whole.value,
        whole.reason,
        whole.n,
        whole.missing,
        low,
        high,
        interval_reason,
        se=se,
        n_clusters=n_clusters,
        n_resamples=len(resampled),
        n_undefined=len(resampled) - len(defined),
        seed=seed,
    )
