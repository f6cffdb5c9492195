"""Nominal agreement of many raters: Fleiss' kappa, Gwet's AC1, Randolph's kappa, percent.

All of them are functions of sums over items. `item_terms` gives what each item adds, so the sums
of a topic, and of any resample of topics, are sums of its rows, and `kappa_from_sums` takes a
whole stack of them at once.

Items may have unequal numbers of ratings. Agreement is the mean over items with at least two
ratings; a category's share is the mean of its per-item shares over all rated items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import Estimate, FloatArray, IntArray, level_index

NO_PAIR = "undefined, because no item has two ratings"
ONE_CATEGORY = "undefined, because all ratings are in one category"


def counts(ratings: ArrayLike, levels: ArrayLike) -> IntArray:
    """Count the raters that put each item in each category.

    `ratings` is items x raters with NaN = missing; `levels` lists all categories, used or not.
    Returns items x categories. An item that nobody rated is a row of zeros. Raises ValueError if
    `ratings` is not two-dimensional, has a value outside `levels`, or `levels` has fewer than two
    or repeated values.
    """
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"ratings are items x raters, not {values.shape}")
    positions, size = level_index(values, levels), np.size(levels)
    item, rater = np.nonzero(positions >= 0)
    cells = np.bincount(item * size + positions[item, rater], minlength=len(values) * size)
    return cells.reshape(len(values), size).astype(np.int64)


def item_terms(count_matrix: ArrayLike) -> FloatArray:
    """Return each item's terms of the sums that agreement is computed from.

    Takes items x categories counts and returns items x (3 + categories): the item's share of
    agreeing pairs of raters, 1 if it has two or more ratings, 1 if it has any, and the share of its
    ratings in each category. Unrated items are rows of zeros. Raises ValueError if the counts are
    not whole numbers >= 0 in a matrix of at least two categories.
    Source: Fleiss (1971), Psychological Bulletin 76(5), the extent of agreement P_i.
    """
    matrix = np.asarray(count_matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise ValueError(f"counts are items x two or more categories, not {matrix.shape}")
    if (matrix < 0).any() or (matrix != np.floor(matrix)).any():
        raise ValueError("counts are whole numbers, zero or more")
    raters = matrix.sum(axis=1)
    agreeing_pairs = (matrix * (matrix - 1)).sum(axis=1)
    pairs = raters * (raters - 1)
    agreement = np.divide(agreeing_pairs, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    shares = matrix / np.maximum(raters, 1)[:, np.newaxis]
    return np.column_stack([agreement, raters >= 2, raters >= 1, shares])


def kappa_from_sums(sums: FloatArray) -> FloatArray:
    """Fleiss' kappa of each vector of summed `item_terms` on the last axis; NaN if undefined.

    Undefined are sums without an item of two ratings, and sums in which one category has all the
    ratings. `sums` must be built by adding terms with weights >= 0: subtracting a topic from a
    total would leave rounding residue where an exact zero shows an unused category.
    Source: Fleiss (1971), Psychological Bulletin 76(5), kappa = (P - P_e) / (1 - P_e).
    """
    observed, expected = _observed(sums), (_shares(sums) ** 2).sum(axis=-1)
    used = (sums[..., 3:] > 0).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = (observed - expected) / (1 - expected)
    return np.where(used > 1, kappa, np.nan)


def ac1_from_sums(sums: FloatArray) -> FloatArray:
    """Return Gwet's AC1 of each vector of summed `item_terms`; NaN if no item has pairs.

    The vectors are on the last axis.

    One category holding all ratings is defined here: chance agreement is then 0 and AC1 is 1.
    Source: Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48:
    chance agreement is sum p(1 - p) / (categories - 1).
    """
    observed, shares = _observed(sums), _shares(sums)
    expected = (shares * (1 - shares)).sum(axis=-1) / (shares.shape[-1] - 1)
    return np.asarray((observed - expected) / (1 - expected), dtype=np.float64)


def fleiss_kappa(count_matrix: ArrayLike) -> Estimate:
    """Fleiss' kappa: agreement beyond what the raters' pooled category shares would give.

    Takes items x categories counts. `n` = items with two or more ratings, `missing` = other items
    (a single rating still counts in the category shares). Undefined if no item has two ratings or
    if all ratings are in one category. Errors as `item_terms`.
    Source: Fleiss (1971), Psychological Bulletin 76(5), 378-382; unequal numbers of raters as in
    the generalised form of Gwet, Handbook of Inter-Rater Reliability, chapter 2.
    """
    return kappa_estimate(*_summed(count_matrix))


def kappa_estimate(sums: FloatArray, n_items: int) -> Estimate:
    """Return `fleiss_kappa` of items by the sums of their `item_terms`."""
    reason = ONE_CATEGORY if sums[1] else NO_PAIR
    return _estimate(kappa_from_sums(sums), reason, sums, n_items)


def gwet_ac1(count_matrix: ArrayLike) -> Estimate:
    """Gwet's AC1: agreement beyond chance that stays meaningful when one category prevails.

    Takes items x categories counts; every column is a category, used or not. `n` and `missing` as
    `fleiss_kappa`. Undefined if no item has two ratings; 1 if all ratings are in one category.
    Errors as `item_terms`. Source: Gwet (2008), BJMSP 61, 29-48.
    """
    return ac1_estimate(*_summed(count_matrix))


def ac1_estimate(sums: FloatArray, n_items: int) -> Estimate:
    """Return `gwet_ac1` of items by the sums of their `item_terms`."""
    return _estimate(ac1_from_sums(sums), NO_PAIR, sums, n_items)


def randolph_kappa(count_matrix: ArrayLike) -> Estimate:
    """Randolph's free-marginal kappa: agreement beyond chance with equal category shares.

    Takes items x categories counts; every column is a category, used or not. `n` and `missing` as
    `fleiss_kappa`. Undefined if no item has two ratings; 1 if all ratings are in one category.
    Errors as `item_terms`.
    Source: Randolph (2005), Free-Marginal Multirater Kappa, Joensuu Learning and Instruction
    Symposium; for two raters Brennan and Prediger (1981).
    """
    sums, n_items = _summed(count_matrix)
    chance = 1 / (len(sums) - 3)
    return _estimate((_observed(sums) - chance) / (1 - chance), NO_PAIR, sums, n_items)


def percent_agreement(count_matrix: ArrayLike) -> Estimate:
    """Observed agreement, 0 to 1: the share of agreeing pairs of raters, averaged over items.

    Takes items x categories counts. `n` and `missing` as `fleiss_kappa`. Undefined if no item has
    two ratings; 1 if all ratings are in one category. Errors as `item_terms`.
    Source: Fleiss (1971), Psychological Bulletin 76(5), the mean of P_i.
    """
    return percent_estimate(*_summed(count_matrix))


def percent_estimate(sums: FloatArray, n_items: int) -> Estimate:
    """Return `percent_agreement` of items by the sums of their `item_terms`."""
    return _estimate(_observed(sums), NO_PAIR, sums, n_items)


def expected_agreement(count_matrix: ArrayLike) -> Estimate:
    """Agreement expected by chance in Fleiss' kappa: the sum of squared category shares.

    Takes items x categories counts. `n` = rated items, `missing` = unrated. Undefined if there is
    no rating. Errors as `item_terms`. Source: Fleiss (1971), Psychological Bulletin 76(5), P_e.
    """
    terms = item_terms(count_matrix)
    rated, items = int(terms[:, 2].sum()), len(terms)
    if not rated:
        return Estimate(None, "undefined, because there are no ratings", 0, items)
    share_squares = _shares(terms.sum(axis=0)) ** 2
    return Estimate(float(share_squares.sum()), None, rated, items - rated)


def prevalence(count_matrix: ArrayLike) -> FloatArray:
    """The share of each category, 0 to 1: the mean over rated items of the item's own shares.

    Takes items x categories counts, returns one share per category; all NaN if nothing is rated.
    Errors as `item_terms`. Source: Fleiss (1971), Psychological Bulletin 76(5), p_j.
    """
    return _shares(item_terms(count_matrix).sum(axis=0))


def _observed(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1], dtype=np.float64)


def _shares(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[..., 3:] / sums[..., 2:3], dtype=np.float64)


def _summed(count_matrix: ArrayLike) -> tuple[FloatArray, int]:
    """Return the sums of `item_terms`, and the number of items."""
    terms = item_terms(count_matrix)
    return terms.sum(axis=0), len(terms)


def _estimate(value: FloatArray, reason: str, sums: FloatArray, n_items: int) -> Estimate:
    n = int(sums[1])
    missing = n_items - n
    if np.isnan(value):
        return Estimate(None, reason, n, missing)
    return Estimate(float(value), None, n, missing)
