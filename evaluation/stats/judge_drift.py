"""Drift of a judge: its grades of anchors now against those of then, with e-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.betting import ALPHA, e_values
from evaluation.stats.cohen import cohen_kappa
from evaluation.stats.estimate import Estimate, FloatArray

NO_ANCHOR = "undefined, because no anchor was graded twice"


@dataclass(frozen=True, slots=True)
class JudgeDrift(Estimate):
    """Mean of later - earlier grades, of `n` anchors, with the e-value after each of them.

    `alarm` is the number of anchors at which the e-value reaches 1/alpha for the first time; `p_sign` is
    that of the sign test, None where no grade changed.
    """

    n_up: int = 0
    n_down: int = 0
    p_sign: float | None = None
    kappa: Estimate | None = None
    e_values: FloatArray | None = None
    alarm: int | None = None

    @property
    def largest(self) -> float | None:
        return None if self.e_values is None else float(self.e_values.max())


def judge_drift(
    earlier: ArrayLike, later: ArrayLike, n_levels: int, alpha: float = ALPHA
) -> JudgeDrift:
    """Test whether a judge's grades of the same anchors have moved up or down.

    Grades are 0 to `n_levels` - 1, in the order in which the anchors were graded again. The e-value bets
    against a mean difference of 0 and holds however often one looks. Undefined without an anchor. Raises
    ValueError for unequal lengths or grades off the scale. Source: as evaluation.stats.betting.
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - a second to load

    first, second = np.asarray(earlier, np.float64), np.asarray(later, np.float64)
    kappa = cohen_kappa(first, second, list(range(n_levels)))
    n = len(first)
    if not n:
        return JudgeDrift(None, NO_ANCHOR, 0)
    change = second - first
    e = e_values((change / (n_levels - 1) + 1) / 2, 0.5, alpha=alpha)
    n_up, n_down = int((change > 0).sum()), int((change < 0).sum())
    is_alarm = e >= 1 / alpha
    return JudgeDrift(
        float(change.mean()),
        None,
        n,
        n_up=n_up,
        n_down=n_down,
        p_sign=float(binomtest(n_up, n_up + n_down).pvalue) if n_up + n_down else None,
        kappa=kappa,
        e_values=e,
        alarm=int(is_alarm.argmax()) + 1 if is_alarm.any() else None,
    )
