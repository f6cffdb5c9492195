"""Conversion of estimates to the schema of the golden cases, and of numbers to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from evaluation.stats.estimate import Estimate, FloatArray

Result = dict[str, Any]

# Words of our reasons, and the code that the cases have for each.
CODES = {
    "all ratings are in one category": "single_category_used",
    "no item has two ratings": "no_pairable_items",
    "no item was rated by both raters": "no_pairable_items",
    "no unit has two ratings": "no_pairable_units",
    "all values of one list are the same": "zero_variance",
    "complete pairs are fewer than three": "n_lt_3",
    "the correlation is exactly 1 or -1": "abs_r_is_1",
    "the judge found no item": "no_predicted_in_class",
    "the human found no item": "no_actual_in_class",
    "nobody found an item": "class_absent",
    "no item has both grades": "no_pairable_items",
    "fewer than two clusters": "fewer_than_two_clusters",
    "the value itself is undefined": "undefined_estimate",
    "resamples has a value": "no_defined_resample",
    "a ranking is empty": "empty_ranking",
    "no person has enough pairs": "no_person_with_enough_items",
}


def result(estimate: Estimate) -> Result:
    return {"value": estimate.value, "reason": code(estimate.reason)}


def code(reason: str | None) -> str | None:
    """The code of a reason; one that the cases have no code for stays in words."""
    if reason is None:
        return None
    return next(
        (reason_code for fragment, reason_code in CODES.items() if fragment in reason), reason
    )


def interval(estimate: Estimate) -> list[float] | None:
    return None if estimate.low is None or estimate.high is None else [estimate.low, estimate.high]


def standard_error(estimate: Estimate, level: float, clusters: int) -> float | None:
    """Return the standard error of an estimate with an interval of Student's t."""
    if estimate.low is None or estimate.high is None:
        return None
    reach = (estimate.high - estimate.low) / 2
    return float(reach / scipy.stats.t.ppf((1 + level) / 2, clusters - 1))


def table(rows: Sequence[Sequence[Any]], width: int) -> FloatArray:
    """Rows of numbers as an array; without a row it is 0 x `width`."""
    return array(rows).reshape(len(rows), -1 if rows else width)


def array(values: Sequence[Any]) -> FloatArray:
    """Numbers as an array, null as NaN."""
    return np.array(values, dtype=np.float64)
