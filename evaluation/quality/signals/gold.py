"""Accuracy on gold items with its interval, and the weight that follows from it."""

from __future__ import annotations

from math import sqrt

from evaluation.stats.estimate import Estimate

Z = 1.959963984540054  # of a 95% interval


def accuracy(right: int, n: int, why_empty: str = "no gold item was answered") -> Estimate:
    """Return the share of n answers that are right, with its 95% Wilson interval.

    n = 0: undefined, because of `why_empty`. Raises ValueError unless 0 <= right <= n.

    Source: Wilson (1927), Journal of the American Statistical Association 22, 209-212. Unlike the
    normal interval it stays between 0 and 1 and has a width where all or none are right.
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} right of {n} cannot be")
    if n == 0:
        return Estimate(None, f"undefined, because {why_empty}", 0)
    share = right / n
    centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return Estimate(share, None, n, low=max(0.0, centre - reach), high=min(1.0, centre + reach))


def weight(right: int, n: int) -> Estimate:
    """Return the weight of a rater's labels from gold items: (right + 1) / (n + 2).

    The mean of the posterior Beta(right + 1, n - right + 1) of the share of right answers, from a
    uniform prior: few gold items move it little from 1/2, and it is never 0. It weighs labels,
    and decides about no rater. n = 0: undefined, since nothing is known. Errors as `accuracy`.

    Source: Laplace's rule of succession; Gelman et al. (2013), Bayesian Data Analysis, chapter 2.
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} right of {n} cannot be")
    if n == 0:
        return Estimate(None, "undefined, because no gold item was answered", 0)
    return Estimate((right + 1) / (n + 2), None, n)
