"""Active time: seconds per item, and answers per hour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.stats.estimate import Estimate, IntArray

NO_CLOCK = "undefined, because no active time was recorded"


@dataclass(frozen=True, slots=True)
class Pace:
    """Total active milliseconds, median seconds per submitted item, answers per active hour.

    `excess_ms` is claimed active time beyond what the server's clock allows.
    """

    active_ms: int
    per_item: Estimate
    per_hour: Estimate
    excess_ms: int = 0


def pace(
    active_ms: IntArray, answers: IntArray, submitted: NDArray[np.bool_], excess_ms: int = 0
) -> Pace:
    """Return the pace of one rater, from one row per assignment.

    `active_ms` is the active time on an item (idle is not in it), `answers` the number of its
    valid answers, `excess_ms` the excess claimed on all of them. An item without recorded
    time (no scripts) is in neither figure, and is counted as missing where it was submitted.
    Nothing recorded: both undefined.
    """
    timed = active_ms > 0
    done = active_ms[timed & submitted]
    untimed = int((submitted & ~timed).sum())
    reason = NO_CLOCK if submitted.any() else "undefined, because no item was submitted"
    total = int(active_ms.sum())
    return Pace(
        active_ms=total,
        per_item=Estimate(float(np.median(done)) / 1000, None, len(done), untimed)
        if len(done)
        else Estimate(None, reason, 0, untimed),
        per_hour=Estimate(
            float(answers[timed].sum() * 3_600_000 / total), None, int(answers[timed].sum())
        )
        if total
        else Estimate(None, NO_CLOCK, 0),
        excess_ms=excess_ms,
    )
