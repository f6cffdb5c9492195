"""Sampling of texts to label with unequal, known probabilities, by expected gap.

Texts whose label is likely to correct most are drawn more often.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.estimate import FloatArray

EVEN = 0.2  # the part of a draw that ignores the expected gaps: no text is ever ruled out


def probabilities(gaps: ArrayLike, n: int, even: float = EVEN) -> FloatArray:
    """The probability of each text to be among `n` drawn ones; they add up to n.

    In proportion to the expected gap, which for a given n gives the estimate from the draw its
    least variance, mixed with a share `even` of equal probabilities. What would be above 1 is 1, and
    the rest is shared out among the others. Where no gap is known (NaN) or all are 0: equal ones.
    Raises ValueError if n is not 1 to the number of texts, a gap is negative, some gaps are known
    and others not, or `even` is not above 0 and at most 1.
    Source: Neyman (1934), JRSS 97, 558-625; for a judge's gaps, Zrnic and Candes (2024), ICML,
    Active statistical inference.
    """
    sizes = np.asarray(gaps, dtype=np.float64)
    if sizes.ndim != 1 or not 1 <= n <= len(sizes):
        raise ValueError(f"between 1 and {sizes.size} texts can be drawn, not {n}")
    if not 0 < even <= 1:
        raise ValueError(f"the even part is above 0 and at most 1, not {even}")
    unknown = np.isnan(sizes)
    if unknown.any() and not unknown.all():
        raise ValueError("the gap of every text is needed, or of none")
    if unknown.all() or not sizes.any():
        return np.full(len(sizes), n / len(sizes))
    if (sizes < 0).any():
        raise ValueError("an expected gap is not negative")
    weights = even / len(sizes) + (1 - even) * sizes / sizes.sum()
    certain = np.zeros(len(sizes), dtype=bool)
    while True:
        n_remaining = n - int(certain.sum())
        chances = np.where(certain, 1.0, n_remaining * weights / weights[~certain].sum())
        above = (chances > 1) & ~certain
        if not above.any():
            return np.asarray(chances, dtype=np.float64)
        certain |= above
        if certain.sum() == n:
            # Rounding alone can bring it here: the others' share is then nothing.
            return certain.astype(np.float64)


def systematic(chances: ArrayLike, seed: int) -> NDArray[np.intp]:
    """The texts drawn with these probabilities, in ascending order: as many as they add up to.

    Systematic sampling along a random order: each text is drawn with exactly its probability. The
    same seed draws the same texts. Raises ValueError if the probabilities are not 0 to 1 or do not
    add up to a whole number.
    Source: Madow (1949), Annals of Mathematical Statistics 20, 333-354.
    """
    shares = np.asarray(chances, dtype=np.float64)
    n = round(float(shares.sum()))
    if shares.ndim != 1 or (shares < 0).any() or (shares > 1).any():
        raise ValueError("probabilities are between 0 and 1")
    if abs(float(shares.sum()) - n) > 1e-6:
        raise ValueError(f"the probabilities add up to {shares.sum()}, which is not whole")
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(shares))
    ends = np.cumsum(shares[order])
    # The last end is n but for rounding; a point beyond it would draw nobody.
    points = np.minimum(generator.random() + np.arange(n), np.nextafter(ends[-1] if n else 0.0, 0))
    return np.sort(order[np.searchsorted(ends, points, side="right")])
