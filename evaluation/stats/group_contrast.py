"""Difference between the means of two groups of items, with errors by cluster (CR1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.clusters import topic_sums
from evaluation.stats.estimate import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class GroupContrast:
    """Mean of the first group less that of the second, with its standard errors.

    `error` is CR1 over `n_clusters`, with t of `n_clusters` - 1 degrees of freedom, None with one;
    `independent_error` takes items as independent (HC2), None with a group of one item.
    """

    first: float
    second: float
    n_first: int
    n_second: int
    n_clusters: int
    error: float | None
    independent_error: float | None

    @property
    def value(self) -> float:
        return self.first - self.second

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Return the ends of the interval, None with one cluster."""
        if self.error is None:
            return None
        reach = self.error * float(scipy.stats.t.ppf((1 + level) / 2, self.n_clusters - 1))
        return self.value - reach, self.value + reach


def group_contrast(values: ArrayLike, in_first: ArrayLike, clusters: IntArray) -> GroupContrast:
    """Return the difference of the means of two groups, neither of them empty.

    Source: Cameron and Miller (2015), Journal of Human Resources 50(2), 317-372; HC2: MacKinnon and White
    (1985), Journal of Econometrics 29(3), 305-325.
    """
    numbers = np.asarray(values, np.float64)
    is_first: NDArray[np.bool_] = np.asarray(in_first, dtype=bool)
    first, second = numbers[is_first], numbers[~is_first]
    residuals: FloatArray = np.where(
        is_first,
        (numbers - first.mean()) / len(first),
        -(numbers - second.mean()) / len(second),
    )
    sums = topic_sums(residuals[:, np.newaxis], clusters)[:, 0]
    n = len(sums)
    is_single = min(len(first), len(second)) < 2
    return GroupContrast(
        *(float(first.mean()), float(second.mean()), len(first), len(second), n),
        error=float(np.sqrt(n / (n - 1) * (sums**2).sum())) if n > 1 else None,
        independent_error=None
        if is_single
        else float(np.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))),
    )
