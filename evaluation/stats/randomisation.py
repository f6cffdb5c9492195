"""Randomisation tests with the topic as the unit, and Holm's adjustment of their p values.

If two systems (or judges) were alike, they could swap names in any topic and nothing would change.
The p value is the share of all such swaps whose difference is at least as large, on either side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.cohen import Weights, kappa_from_matrix
from evaluation.stats.estimate import Estimate, FloatArray, level_index

# All sign flips of this many differences are counted through two lists of 2^13 sums: a millisecond.
FLIPS_EXACT_UP_TO = 26
# Each swap of two judges needs kappas of its own: with 20 topics half a million pairs of them.
SWAPS_EXACT_UP_TO = 20
RESAMPLES = 9_999
# Differences that are equal but for rounding are equal.
SLACK = 1e-12
# How many numbers of the drawn arrangements are held at a time.
BLOCK = 500_000


@dataclass(frozen=True, slots=True)
class Randomisation(Estimate):
    """A difference with the two-sided p value of its randomisation test.

    `n_arrangements` counts the arrangements that p is a share of: all of them if `exact`, otherwise
    those drawn with `seed` and the observed one. `smallest_p` is the smallest p that they can give,
    which topics without a difference do not lower: there a swap changes nothing.
    Without a p, `p_reason` says why; both are None if the difference itself is undefined.
    """

    p: float | None = None
    p_reason: str | None = None
    exact: bool = True
    n_arrangements: int = 0
    smallest_p: float | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeSwap(Randomisation):
    """The difference of two judges' kappas with the human; `n` counts items, of `n_topics`."""

    kappa_a: float | None = None
    kappa_b: float | None = None
    n_topics: int = 0


def sign_flip(
    differences: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> Randomisation:
    """Test by sign flips if the mean per-topic difference of two systems is due to chance.

    `differences` has one number a topic, NaN where either system has none; those are left out and
    counted in `missing`, `n` = the others, `value` = their mean. p is exact, over all 2^n sign
    flips, for up to 26 differences that are not 0, and otherwise (hits + 1) / (resamples + 1) of
    random flips from `seed`; `exact` says which. Differences that are all 0 have p = 1. No
    differences: undefined. Raises ValueError for another shape, infinite differences or
    resamples < 1.
    Source: Fisher (1935), The Design of Experiments, section 21; Smucker, Allan and Carterette
    (2007), CIKM, 623-632; the + 1: Phipson and Smyth (2010), Statistical Applications in Genetics
    and Molecular Biology 9(1), 39.
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"differences are one list, not {values.shape}")
    return sign_flips(values[:, np.newaxis], resamples=resamples, seed=seed)[0]


def sign_flips(
    differences: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Randomisation, ...]:
    """`sign_flip` of each column of topics x comparisons, with the same random flips for all.

    Adjust the p values with `holm.holm`. Input, results, errors and sources as `sign_flip`.
    """
    matrix = np.asarray(differences, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"differences are topics x comparisons, not {matrix.shape}")
    if np.isinf(matrix).any():
        raise ValueError("a difference is a finite number, or NaN where it is missing")
    _check_resamples(resamples)
    # A missing difference adds nothing however it is flipped, as does one of 0.
    filled = np.where(np.isnan(matrix), 0.0, matrix)
    exact = np.count_nonzero(filled, axis=0) <= FLIPS_EXACT_UP_TO
    p = np.ones(matrix.shape[1])
    p[exact] = [_p_of_all_flips(column[column != 0]) for column in filled.T[exact]]
    p[~exact] = _p_of_drawn_flips(filled[:, ~exact], resamples, seed)
    return tuple(
        _sign_flip(matrix[:, index], p[index], resamples, None if exact[index] else seed)
        for index in range(matrix.shape[1])
    )


def judge_swap(
    human: ArrayLike,
    judge_a: ArrayLike,
    judge_b: ArrayLike,
    labels: ArrayLike,
    topics: ArrayLike,
    *,
    weights: Weights = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> JudgeSwap:
    """Test if one judge agrees more with the human than another does, by Cohen's kappa.

    The grades are of the same items, one-dimensional, NaN = missing; `topics` names the topic of
    each item. Items without all three grades are left out and counted in `missing`. `value` is the
    kappa of `judge_a` less that of `judge_b`; the two judges swap names within whole topics. p is
    exact, over all 2^topics swaps, up to 20 topics, and otherwise drawn as in `sign_flip`. The
    difference is undefined without items or if either kappa is; there is no p if a swap leaves a
    judge without a kappa. `labels` and `weights` as `cohen.cohen_kappa`. Raises ValueError for
    unequal lengths, grades outside `labels`, unknown weights or resamples < 1.
    Source: as `sign_flip`, with kappa in the place of the mean.
    """
    _check_resamples(resamples)
    levels, names = np.asarray(labels, dtype=np.float64), np.asarray(topics)
    sides = [level_index(side, levels) for side in (human, judge_a, judge_b)]
    if names.ndim != 1 or any(side.shape != names.shape for side in sides):
        raise ValueError("the human, both judges and the topics are lists of equal length")
    rated = np.all([side >= 0 for side in sides], axis=0)
    n, missing = int(rated.sum()), int((~rated).sum())
    topic_names, topic = np.unique(names[rated], return_inverse=True)
    truth, *judges = (side[rated] for side in sides)
    # Human's levels x judge's levels, topic by topic.
    a, b = np.zeros((2, len(topic_names), len(levels), len(levels)))
    for cells, judge in zip((a, b), judges, strict=True):
        np.add.at(cells, (topic, truth, judge), 1)

    def kappas(sums: FloatArray) -> FloatArray:
        return kappa_from_matrix(sums, levels, weights)

    observed = [float(kappas(side.sum(axis=0))) for side in (a, b)]
    kappa_a, kappa_b = (None if np.isnan(kappa) else kappa for kappa in observed)
    if kappa_a is None or kappa_b is None:
        undefined_reason = "the human and a judge put all items in one category"
        reason = undefined_reason if n else "no item was graded by the human and both judges"
        return JudgeSwap(
            None,
            f"undefined, because {reason}",
            n,
            missing,
            kappa_a=kappa_a,
            kappa_b=kappa_b,
            n_topics=len(topic_names),
        )
    exact = len(topic_names) <= SWAPS_EXACT_UP_TO
    swaps = (
        _all_swaps(len(topic_names)) if exact else _random_bits(resamples, len(topic_names), seed)
    )
    least = abs(kappa_a - kappa_b) - SLACK
    # Beside drawn swaps, the observed one is counted: it could have been drawn.
    hits = tried = 0 if exact else 1
    defined = True
    for swapped in swaps:
        as_a = a.sum(axis=0) + np.tensordot(swapped, b - a, axes=1)
        differences = np.abs(kappas(as_a) - kappas((a + b).sum(axis=0) - as_a))
        defined = defined and not np.isnan(differences).any()
        hits += int((differences >= least).sum())
        tried += len(differences)
    undefined_reason = "undefined, because some swaps leave a judge without a kappa"
    return JudgeSwap(
        kappa_a - kappa_b,
        None,
        n,
        missing,
        p=hits / tried if defined else None,
        p_reason=None if defined else undefined_reason,
        exact=exact,
        n_arrangements=2 ** len(topic_names) if exact else tried,
        smallest_p=_smallest(int((a != b).any(axis=(1, 2)).sum())) if exact else 1 / tried,
        seed=None if exact else seed,
        kappa_a=kappa_a,
        kappa_b=kappa_b,
        n_topics=len(topic_names),
    )


def _sign_flip(column: FloatArray, p: float, resamples: int, seed: int | None) -> Randomisation:
    values = column[~np.isnan(column)]
    n, missing = len(values), len(column) - len(values)
    if not n:
        return Randomisation(None, "undefined, because there are no differences", 0, missing)
    exact = seed is None
    # What only rounding left of a difference moves no sum.
    different = int((np.abs(values) > SLACK * np.abs(values).sum()).sum())
    return Randomisation(
        float(values.mean()),
        None,
        n,
        missing,
        p=float(p),
        exact=exact,
        n_arrangements=2**n if exact else resamples + 1,
        smallest_p=_smallest(different) if exact else 1 / (resamples + 1),
        seed=seed,
    )


def _smallest(different: int) -> float:
    """Return the smallest p of all swaps of `different` topics: 2 / 2^n.

    The observed swap and its opposite reach it.
    """
    return 2.0 ** (1 - different) if different else 1.0


def _p_of_all_flips(values: FloatArray) -> float:
    """The share of the 2^n sign flips whose sum is at least as far from 0; no value is 0.

    Every flip is a sum over the first half and one over the second, so sorting the sums of one
    half counts the fitting partners of each sum of the other: 2^(n/2) steps for 2^n flips.
    """
    slack = SLACK * np.abs(values).sum()
    least = abs(values.sum()) - slack
    if least <= slack:
        return 1.0
    middle = len(values) // 2
    left_sums, right_sums = _flipped_sums(values[:middle]), np.sort(_flipped_sums(values[middle:]))
    above = len(right_sums) - np.searchsorted(right_sums, least - left_sums)
    return 2 * int(above.sum()) / 2 ** len(values)


def _flipped_sums(values: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def _p_of_drawn_flips(columns: FloatArray, resamples: int, seed: int) -> FloatArray:
    least = np.abs(columns.sum(axis=0)) - SLACK * np.abs(columns).sum(axis=0)
    hits = np.ones(columns.shape[1])
    if columns.shape[1]:
        for bits in _random_bits(resamples, len(columns), seed):
            hits += (np.abs((2 * bits - 1) @ columns) >= least).sum(axis=0)
    return np.asarray(hits / (resamples + 1))


def _random_bits(rows: int, width: int, seed: int) -> Iterator[FloatArray]:
    generator = np.random.default_rng(seed)
    block = max(1, BLOCK // width)
    for start in range(0, rows, block):
        size = (min(block, rows - start), width)
        yield generator.integers(0, 2, size, dtype=np.int8).astype(np.float64)


def _all_swaps(width: int) -> Iterator[NDArray[np.float64]]:
    """All swaps in which the first topic stays: the others only turn the difference round."""
    block, last = 2**14, 2 ** (width - 1)
    for start in range(0, last, block):
        patterns = np.arange(start, min(start + block, last))
        yield (patterns[:, np.newaxis] >> np.arange(width - 1, -1, -1) & 1).astype(np.float64)


def _check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise ValueError(f"at least one resample is needed, not {resamples}")


def holm(p_values: ArrayLike) -> FloatArray:
    """The p value of each test after Holm's step-down adjustment, in the order of the tests.

    With m tests the smallest p is multiplied by m, the next by m - 1 and so on; none becomes
    smaller than the one before it, nor larger than 1. Rejecting what stays at or below 0.05 keeps
    the chance of any false rejection at 0.05, however the tests depend on each other. `p_values`
    is one-dimensional; a test that has no p is NaN, stays NaN and is not counted in m. No tests:
    an empty array. Raises ValueError for another shape or a p outside 0 to 1.
    Source: Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"p values are one list, not {values.shape}")
    if ((values < 0) | (values > 1)).any():
        raise ValueError("a p value is between 0 and 1")
    adjusted = np.full(len(values), np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    multipliers = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(multipliers * values[order]), 1)
    return adjusted
