"""Prediction-powered inference: people's values of few topics, plus a judge's of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, complete_pairs

Reference = Literal["t", "normal"]


@dataclass(frozen=True, slots=True)
class PredictionPowered(Estimate):
    """A mean with its interval; `n` counts topics that people and the judge both have.

    `n_judge_only` counts the topics that the judge alone has, `missing` those left out of either.
    `lam` is the weight that the judge got: 0 is the people's mean alone.
    """

    lam: float | None = None
    se: float | None = None
    n_judge_only: int = 0


def ppi_mean(
    human: ArrayLike,
    judge: ArrayLike,
    judge_only: ArrayLike,
    *,
    lam: float | None = None,
    level: float = 0.95,
    reference: Reference = "t",
) -> PredictionPowered:
    """Return the PPI mean over all topics: the judge's, corrected where people graded too.

    `human` (Y) and `judge` (F) are values of the same n topics, `judge_only` (U) the judge's of N
    others; NaN = missing, left out. value = mean(Y) - lam (mean(F) - mean(U)) and
    SE^2 = var(Y - lam F)/n + lam^2 var(U)/N. The n topics are taken for a random part of all: it is
    biased if they were drawn with unequal chances, for which `labelling.assisted` is made. `lam`
    None is tuned to make SE small: cov(Y, F) / ((1 + n/N) var(F and U together)), between 0 and 1,
    and 0 for a judge that is constant. The interval is value +- t(n - 1) SE with variances over
    n - 1, as befits few topics; `reference` "normal" is the published large-sample interval, z and
    variances over n. Undefined without a topic on either side; no interval with fewer than two on
    either. Raises ValueError for unequal lengths, infinite values, a `lam` or `level` that is not
    between 0 and 1, or another `reference`.
    Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
    arXiv:2311.01453, section 2 and the tuning of section 6.
    """
    if reference not in ("t", "normal"):
        raise ValueError(f"the reference is 't' or 'normal', not {reference!r}")
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, not {level}")
    if lam is not None and not 0 <= lam <= 1:
        raise ValueError(f"lam is between 0 and 1, not {lam}")
    y, f, missing = complete_pairs(human, judge)
    u, _, more = complete_pairs(judge_only, judge_only)
    n, n_judge_only, missing = len(y), len(u), missing + more
    if not n or not n_judge_only:
        few = (
            "no topic has both people's grades and the judge's"
            if not n
            else "the judge alone has no topic"
        )
        return PredictionPowered(
            None, f"undefined, because {few}", n, missing, n_judge_only=n_judge_only
        )
    weight = _tuned(y, f, u) if lam is None else float(lam)
    value = float(y.mean() - weight * (f.mean() - u.mean()))
    if n < 2 or n_judge_only < 2:
        reason = "no interval, because people or the judge alone have fewer than two topics"
        return PredictionPowered(
            value, None, n, missing, interval_reason=reason, lam=weight, n_judge_only=n_judge_only
        )
    ddof = 1 if reference == "t" else 0
    variance = (y - weight * f).var(ddof=ddof) / n + weight**2 * u.var(ddof=ddof) / n_judge_only
    tail = (1 + level) / 2
    quantile = scipy.stats.t.ppf(tail, n - 1) if reference == "t" else scipy.stats.norm.ppf(tail)
    se = float(np.sqrt(variance))
    reach = float(quantile) * se
    return PredictionPowered(
        value, None, n, missing, value - reach, value + reach, None, weight, se, n_judge_only
    )


def _tuned(y: FloatArray, f: FloatArray, u: FloatArray) -> float:
    pooled = np.concatenate([f, u])
    spread = float(pooled.var(ddof=1))
    # A constant judge may have a spread of rounding alone.
    if np.ptp(pooled) <= 1e-12 * np.abs(pooled).max():
        return 0.0
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    best = covariance / ((1 + len(y) / len(u)) * spread)
    return min(max(best, 0.0), 1.0)
