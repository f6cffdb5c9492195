"""Active time: how long items take, and how many answers come of an hour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.stats.estimate import Estimate, IntArray

NO_CLOCK = "undefined, because no active time was recorded"


@dataclass(frozen=True, slots=True)
class Pace:
    """Active milliseconds in all, median seconds per item handed in, answers per active hour.

    `excess_ms` is what was claimed of active time beyond what the server's clock allows.
    """

    active_ms: int
    per_item: Estimate
    per_hour: Estimate
    excess_ms: int = 0


def pace(
    active_ms: IntArray, answers: IntArray, handed_in: NDArray[np.bool_], excess_ms: int = 0
) -> Pace:
    """The pace of one rater, from one row per item in hand.

    `active_ms` is the active time on an item (idle is not in it), `answers` how many of its
    answers stand, `excess_ms` what was claimed too much on all of them. An item without recorded
    time (no scripts) is in neither figure, and is counted as missing where it was handed in.
    Nothing recorded: both undefined.
    """
    timed = active_ms > 0
    done = active_ms[timed & handed_in]
    untimed = int((handed_in & ~timed).sum())
    why = NO_CLOCK if handed_in.any() else "undefined, because no item was handed in"
    total = int(active_ms.sum())
    return Pace(
        active_ms=total,
        per_item=Estimate(float(np.median(done)) / 1000, None, len(done), untimed)
        if len(done)
        else Estimate(None, why, 0, untimed),
        per_hour=Estimate(
            float(answers[timed].sum() * 3_600_000 / total), None, int(answers[timed].sum())
        )
        if total
        else Estimate(None, NO_CLOCK, 0),
        excess_ms=excess_ms,
    )
