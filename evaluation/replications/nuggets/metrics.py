"""Nugget scores of a report (AutoNuggetizer): support of vital and okay nuggets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray

Rules = Literal["paper", "authors"]

VITAL, OKAY = 2, 1
SUPPORT, PARTIAL_SUPPORT, NOT_SUPPORT = 2, 1, 0
SCORES = ("strict_vital", "strict_all", "vital", "all")
NO_NUGGET = "undefined, because the topic has no nugget"
NO_VITAL = "undefined, because no nugget of the topic is vital"
UNWEIGHED = "undefined, because nobody has weighed the nuggets of the topic"
UNASSIGNED = "undefined, because none of its nuggets is assigned"


def nugget_scores(
    support: ArrayLike, importance: ArrayLike, rules: Rules = "paper"
) -> Mapping[str, Estimate]:
    """The four scores of one report, by the names of SCORES.

    `support` has 2 (support), 1 (partial support) or 0 for each nugget of the topic, `importance` 2
    (vital) or 1 (okay); NaN where nobody said. The strict scores are shares of nuggets with support
    in full; in the others a partial one counts 1/2. `vital` scores are of vital nuggets alone.

    `n` counts the nuggets with an assignment, and `missing` those without one, which are not taken
    for unsupported; for the vital scores also those of which nobody said whether they are vital.
    Without a nugget, or without a vital one, a score is undefined; by the rules of the authors' code
    it is 0. Raises ValueError for lists of unequal length and other grades.
    Source: Pradeep et al. (2025), The Great Nugget Recall (AutoNuggetizer), section 3.3; `authors`:
    their nuggetizer, core/metrics.py.
    """
    assigned, weight = (np.asarray(values, dtype=np.float64) for values in (support, importance))
    if assigned.ndim != 1 or assigned.shape != weight.shape:
        raise ValueError(
            f"two lists of one length are needed, not {assigned.shape}, {weight.shape}"
        )
    _check(assigned, (NOT_SUPPORT, PARTIAL_SUPPORT, SUPPORT), "support")
    _check(weight, (OKAY, VITAL), "importance")
    all_of_them = _shares(assigned, NO_NUGGET)
    vital = _of_vital(assigned, weight)
    scores = {
        "strict_vital": vital[0],
        "strict_all": all_of_them[0],
        "vital": vital[1],
        "all": all_of_them[1],
    }
    return {name: _by_rules(score, rules) for name, score in scores.items()}


def _of_vital(assigned: FloatArray, weight: FloatArray) -> tuple[Estimate, Estimate]:
    """Strict and not, of the vital nuggets."""
    unweighed = int(np.isnan(weight).sum())
    why_empty = UNWEIGHED if unweighed and unweighed == len(weight) else NO_VITAL
    strict, weighted = _shares(assigned[weight == VITAL], why_empty if len(weight) else NO_NUGGET)
    return (
        replace(strict, missing=strict.missing + unweighed),
        replace(weighted, missing=weighted.missing + unweighed),
    )


def _shares(assigned: FloatArray, why_empty: str) -> tuple[Estimate, Estimate]:
    rated = assigned[~np.isnan(assigned)]
    missing = len(assigned) - len(rated)
    if not len(rated):
        undefined = Estimate(None, UNASSIGNED if missing else why_empty, 0, missing)
        return undefined, undefined
    strict, weighted = float((rated == SUPPORT).mean()), float((rated / SUPPORT).mean())
    return (
        Estimate(strict, None, len(rated), missing),
        Estimate(weighted, None, len(rated), missing),
    )


def _by_rules(score: Estimate, rules: Rules) -> Estimate:
    if rules == "authors" and score.reason in (NO_NUGGET, NO_VITAL):
        return Estimate(0.0, None, 0, score.missing)
    return score


def _check(values: FloatArray, grades: tuple[int, ...], scale: str) -> None:
    if not (np.isnan(values) | np.isin(values, grades)).all():
        raise ValueError(f"the {scale} of a nugget is one of {grades}, or NaN where nobody said")
