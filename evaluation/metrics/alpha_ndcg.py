"""Ranked coverage (alpha-nDCG): early answers to questions, discounted for redundancy.

Two readings of the normaliser are in use, and both are here. The `standard` one, of ndeval and
ir_measures, divides by a greedy ideal ranking of all relevant passages; equation 4 of the CRUX
paper, read literally, divides by the oracle context Z* as it is ranked. Either may exceed 1: the
first because a greedy ideal is not always the best one, the second because Z* ends once every
question is answered, while further answers to it still gain something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.grades import NO_ANSWERABLE, as_grades, question_indices, same_questions
from evaluation.metrics.greedy_ideal import cumulative_dcg, greedy_ideal, hit_gains
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

NO_ORACLE_ANSWER = "undefined, because the oracle context answers no answerable question"


@dataclass(frozen=True, slots=True)
class AlphaNdcg(Estimate):
    """alpha-nDCG; `n` = answerable questions, `missing` = unrated cells of the ranking.

    Only cells of answerable questions are counted.

    `gains` has one number per ranked passage up to the cut-off, before the discount for its rank,
    `ideal_gains` one per passage of the ideal ranking, and `ideal_order` their rows in the matrix
    that was given (pool or Z*). An unrated cell gains nothing: with `missing` above 0 the value may
    be too low.
    """

    dcg: float = 0.0
    ideal_dcg: float = 0.0
    gains: tuple[float, ...] = ()
    ideal_gains: tuple[float, ...] = ()
    ideal_order: tuple[int, ...] = ()
    answerable: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AlphaNdcgMany:
    """alpha-nDCG of many rankings, each array ... x topics; NaN where it is undefined."""

    values: FloatArray
    dcg: FloatArray
    ideal_dcg: FloatArray
    n_answerable: IntArray


def alpha_ndcg(
    ranked: ArrayLike,
    pool: ArrayLike,
    pool_names: Sequence[str],
    eta: float,
    *,
    alpha: float = 0.5,
    cutoff: int | None = None,
) -> AlphaNdcg:
    """Return the standard alpha-nDCG: DCG of a ranking over that of a greedy ideal ranking.

    The ideal ranks the relevant passages.

    `ranked` holds the grades of the ranked passages in their order, `pool` those of all relevant
    passages P*, both passages x questions, NaN = unrated, which answers nothing; a grade >= `eta`
    answers. Answerable are the questions that a passage of the pool answers, and only they count.
    A passage gains (1 - alpha)^c for every question that it answers after c passages before it did;
    the gain at rank r is divided by log2(r + 1). The ideal takes the passage that gains most, of
    equals the one whose name in `pool_names` is greatest by code point, as ndeval does; passages
    that answer nothing are not part of it. `cutoff` limits both rankings to that many passages, the
    ideal too where the ranking is shorter; by default it is the length of the ranking. A ranked
    passage need not be in the pool.
    No answerable question: undefined. No ranked passage: 0. Raises ValueError for different numbers
    of questions, names that do not fit the pool or repeat, an alpha outside 0 to 1, or a cut-off
    below 0.
    Source: Clarke et al. (2008), SIGIR, 659-666; ndeval of trec-web; CRUX (Ju et al., 2025), Table 1.
    """
    rows, relevant = as_grades(ranked), as_grades(pool)
    same_questions(rows, relevant)
    if len(set(pool_names)) != len(pool_names):
        raise ValueError("passages of one topic have different names")
    depth = int(_depth(cutoff, len(rows)))
    read = rows[:depth]
    answers = relevant >= eta
    answerable = np.flatnonzero(answers.any(axis=0))
    gains = hit_gains(read[:, answerable] >= eta, alpha)
    # Against no passage at all an empty ranking would be 0/0; against the best one it is 0.
    order, ideal = greedy_ideal(answers[np.newaxis], [list(pool_names)], alpha, max(depth, 1))
    is_ranked = order[0] >= 0
    return _ratio(read, answerable, gains, ideal[0][is_ranked], order[0][is_ranked])


def alpha_ndcg_eq4(
    ranked: ArrayLike, z_star: ArrayLike, answerable: ArrayLike, eta: float, *, alpha: float = 0.5
) -> AlphaNdcg:
    """Equation 4 as it is printed: DCG of the whole ranking over DCG of the whole of Z*.

    `ranked` and `z_star` (the oracle context, in the order of the required subset) are passages x
    questions as in `alpha_ndcg`; only the questions listed in `answerable`, indices from 0, count.
    Undefined without answerable questions, or if Z* answers none of them. Raises ValueError for
    different numbers of questions, an index that is repeated or is not a question, or an alpha
    outside 0 to 1.
    Source: CRUX (Ju et al., 2025), section 3.3, eq. 4.
    """
    rows, oracle = as_grades(ranked), as_grades(z_star)
    same_questions(rows, oracle)
    questions = question_indices(answerable, rows.shape[1])
    gains = hit_gains(rows[:, questions] >= eta, alpha)
    ideal = hit_gains(oracle[:, questions] >= eta, alpha)
    return _ratio(rows, questions, gains, ideal, np.arange(len(oracle)))


def alpha_ndcg_many(
    ranked: ArrayLike,
    pool: ArrayLike,
    pool_names: ArrayLike,
    eta: float,
    *,
    alpha: float = 0.5,
    cutoff: ArrayLike | None = None,
) -> AlphaNdcgMany:
    """`alpha_ndcg` of many topics, and of many rankings of each, in one pass over arrays.

    `pool` is topics x passages x questions, `pool_names` topics x passages, `ranked` ... x topics x
    ranks x questions; leading axes, such as systems, share the ideal of a topic. Topics of
    different sizes are filled up with NaN, which answers nothing (and with any names); for this
    reason unrated cells are not counted here. `cutoff` is one number or ... x topics: the size of
    each ranking, say. By default it is the number of ranks.
    Values equal those of `alpha_ndcg`, with the same undefined cases (NaN) and errors, but repeated
    names are not looked for.
    """
    rows, relevant = np.asarray(ranked, np.float64), np.asarray(pool, np.float64)
    if relevant.ndim != 3 or rows.ndim < 3 or rows.shape[-3] != len(relevant):
        raise ValueError(
            "pools are topics x passages x questions, rankings ... x topics x ranks x questions, "
            f"not {relevant.shape}, {rows.shape}"
        )
    same_questions(rows, relevant)
    limits = np.broadcast_to(_depth(cutoff, rows.shape[-2]), rows.shape[:-2])
    depth = int(limits.max(initial=1))
    answers = relevant >= eta
    # Contiguous passages: several times as fast as the same along the middle axis.
    answerable = np.asarray(np.ascontiguousarray(answers.transpose(0, 2, 1)).any(axis=2))
    hits = (rows[..., :depth, :] >= eta) & answerable[:, np.newaxis, :]
    _, ideal = greedy_ideal(answers, pool_names, alpha, depth)
    dcg = _at(cumulative_dcg(hit_gains(hits, alpha)), limits)
    ideal_dcg = _at(cumulative_dcg(ideal), np.maximum(limits, 1))
    values = np.divide(dcg, ideal_dcg, out=np.full_like(dcg, np.nan), where=ideal_dcg > 0)
    return AlphaNdcgMany(values, dcg, ideal_dcg, answerable.sum(axis=1))


def _ratio(
    rows: FloatArray, answerable: IntArray, gains: FloatArray, ideal: FloatArray, order: IntArray
) -> AlphaNdcg:
    dcg, ideal_dcg = float(cumulative_dcg(gains)[-1]), float(cumulative_dcg(ideal)[-1])
    reason = None
    if len(answerable) == 0:
        reason = NO_ANSWERABLE
    elif ideal_dcg == 0:
        reason = NO_ORACLE_ANSWER
    return AlphaNdcg(
        None if reason else dcg / ideal_dcg,
        reason,
        len(answerable),
        int(np.isnan(rows[:, answerable]).sum()),
        dcg=dcg,
        ideal_dcg=ideal_dcg,
        gains=tuple(gains.tolist()),
        ideal_gains=tuple(ideal.tolist()),
        ideal_order=tuple(order.tolist()),
        answerable=tuple(answerable.tolist()),
    )


def _depth(cutoff: ArrayLike | None, size: int) -> IntArray:
    depth = np.asarray(size if cutoff is None else cutoff)
    if depth.dtype.kind not in "iu" or np.any(depth < 0):
        raise ValueError(f"a cut-off is a whole number of passages from 0, not {cutoff!r}")
    return depth


def _at(cumulative: FloatArray, limits: IntArray) -> FloatArray:
    """The sum at each limit; a ranking that is shorter gains no more."""
    index = np.minimum(limits, cumulative.shape[-1] - 1)[..., np.newaxis]
    sums = np.broadcast_to(cumulative, (*limits.shape, cumulative.shape[-1]))
    return np.take_along_axis(sums, index, axis=-1)[..., 0]
