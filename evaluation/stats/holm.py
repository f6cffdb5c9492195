"""Holm's adjustment of p values for the number of tests that were made together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import FloatArray


def holm(p_values: ArrayLike) -> FloatArray:
    """The p value of each test after Holm's step-down adjustment, in the order of the tests.

    With m tests the smallest p is multiplied by m, the next by m - 1 and so on; none becomes
    smaller than the one before it, nor larger than 1. Rejecting what stays at or below 0.05 keeps
    the chance of any false rejection at 0.05, however the tests depend on each other. `p_values`
    is one-dimensional; a test that has no p is NaN, stays NaN and is not counted in m. No tests:
    an empty array. Raises ValueError for another shape or a p outside 0 to 1.
    Source: Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"p values are one list, not {values.shape}")
    if ((values < 0) | (values > 1)).any():
        raise ValueError("a p value is between 0 and 1")
    adjusted = np.full(len(values), np.nan)
    made = np.flatnonzero(~np.isnan(values))
    order = made[np.argsort(values[made], kind="stable")]
    left = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(left * values[order]), 1)
    return adjusted
