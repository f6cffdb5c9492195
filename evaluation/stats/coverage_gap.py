"""Expected gap between a person's and the judge's coverage of a text, before labelling.

Known beforehand are the judge's grade of each cell and, from the texts that people did label, how
often people call a cell answerable at each grade of the judge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import FloatArray, level_index

PRIOR = 2.0  # how many cells of the overall share each grade is mixed with, so that none is certain


def answerable_by_grade(judge: ArrayLike, human: ArrayLike, levels: ArrayLike) -> FloatArray:
    """The share of cells that people call answerable, for each grade of the judge.

    `judge` and `human` are one value per cell that both rated: the judge's grade, and the share of
    people who said answerable, 0 to 1; cells with a NaN on either side are left out. Returns one
    share per level, each mixed with PRIOR cells of the overall share; all NaN without such cells.
    Raises ValueError for unequal lengths, a share outside 0 to 1, or a grade that is not a level.
    """
    grades, shares = np.asarray(judge, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if grades.ndim != 1 or grades.shape != shares.shape:
        raise ValueError(f"one share for every grade, not {shares.shape} for {grades.shape}")
    both = ~(np.isnan(grades) | np.isnan(shares))
    if ((shares[both] < 0) | (shares[both] > 1)).any():
        raise ValueError("a share of people is between 0 and 1")
    level = level_index(grades[both], levels)
    n = np.bincount(level, minlength=np.size(levels))
    yes = np.bincount(level, weights=shares[both], minlength=np.size(levels))
    if not n.any():
        return np.full(np.size(levels), np.nan)
    overall = yes.sum() / n.sum()
    return np.asarray((yes + PRIOR * overall) / (n + PRIOR), dtype=np.float64)


def expected_gap(
    judge: ArrayLike, eta: float, share_by_grade: ArrayLike, levels: ArrayLike
) -> FloatArray:
    """Return the expected root mean square gap of each text: person's less judge's coverage.

    `judge` is texts x questions, NaN = not rated by the judge, which is left out of that text's
    coverage; `share_by_grade` as `answerable_by_grade` gives it. With p the share of a cell's grade
    and f = 1 where the grade is at least eta, a text of Q cells is expected to be off by
    sqrt(mean(p - f)^2 + mean(p(1 - p))/Q): the judge's bias, and chance from cell to cell, which are
    taken to be independent of each other. NaN for a text without a rated cell, and for all where the
    shares are unknown. Raises ValueError if `judge` is not two-dimensional.
    """
    grades = np.asarray(judge, dtype=np.float64)
    if grades.ndim != 2:
        raise ValueError(f"grades are texts x questions, not {grades.shape}")
    shares = np.asarray(share_by_grade, dtype=np.float64)
    level = level_index(grades, levels)
    rated = level >= 0
    p = np.where(rated, shares[level], 0.0)
    off = np.where(rated, p - (grades >= eta), 0.0)
    n = rated.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = off.sum(axis=1) / n
        chance = (p * (1 - p)).sum(axis=1) / n**2
        return np.asarray(np.sqrt(bias**2 + chance), dtype=np.float64)
