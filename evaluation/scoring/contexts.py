"""Contexts Z as they are scored: cut off, and with their ranked coverage, many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.metrics.alpha_ndcg import alpha_ndcg_eq4, alpha_ndcg_many
from evaluation.metrics.grades import NO_ANSWERABLE
from evaluation.scoring.options import ORACLE, Options
from evaluation.scoring.pools import Pool
from evaluation.scoring.rows import Row
from evaluation.stats.estimate import Estimate, FloatArray

AT_ONCE = 64  # topics: few enough that all rankings of them are a small array


@dataclass(frozen=True, slots=True)
class Context:
    """Z of a row on one topic.

    `texts` are its keys after the cut-off, best first, `grades` texts x questions, NaN = unrated,
    and `eta` the threshold on them. `depth` is the rank at which measures of rankings stop.
    """

    texts: tuple[int, ...]
    grades: FloatArray
    eta: int
    depth: int


def contexts_of(row: Row, pools: Mapping[int, Pool], options: Options) -> dict[int, Context]:
    """The contexts of a row by key of the topic, in the order of the pools.

    Only runs are cut off: a report is one text, and Z* is the bound that it is. As long as Z* they
    are where there is a Z*; on a topic without one the whole of a run counts.
    """
    contexts = {}
    for topic, pool in pools.items():
        whole = row.contexts.get(topic)
        if whole is None:
            continue
        # Without an answerable question there is no Z*, and nothing to be as long as.
        limit = (len(pool.required) or None) if options.cutoff == ORACLE else options.cutoff
        texts = whole[:limit] if row.kind == "run" else whole
        contexts[topic] = Context(
            texts=texts,
            grades=pool.context(texts),
            eta=pool.scales[row.text_kind].eta,
            depth=len(texts) if limit is None or options.rules.stops_at_size else limit,
        )
    return contexts


def as_ndeval_reads(
    pools: Mapping[int, Pool], rankings: Sequence[Mapping[int, Context]]
) -> list[dict[int, Context]]:
    """The contexts in which a passage of another topic gains something, with that passage rated 0.

    So ndeval counts it, given judgements of P*; the greedy ideal, of P* alone, lacks it either way.
    """
    by_row: list[dict[int, Context]] = [{} for _ in rankings]
    for contexts, of_row in zip(rankings, by_row, strict=True):
        for topic, z in contexts.items():
            pool = pools[topic]
            visits = np.array([pool.is_visitor(pk) for pk in z.texts], dtype=bool)
            if (z.grades[visits][:, list(pool.answerable)] >= z.eta).any():
                grades = np.where(visits[:, np.newaxis], 0.0, z.grades)
                of_row[topic] = replace(z, grades=grades)
    return by_row


def ranked_coverage(
    pools: Mapping[int, Pool], rankings: Sequence[Mapping[int, Context]], options: Options
) -> list[dict[int, Estimate]]:
    """alpha-nDCG of every context of several rows, in the order of `rankings`.

    `n` counts the answerable questions, `missing` the unrated cells of the context among them.
    """
    if options.ideal == "paper_eq4":
        return [
            {topic: _eq4(pools[topic], z, options.alpha) for topic, z in contexts.items()}
            for contexts in rankings
        ]
    by_row: list[dict[int, Estimate]] = [{} for _ in rankings]
    there = [topic for topic in pools if any(topic in contexts for contexts in rankings)]
    for start in range(0, len(there), AT_ONCE):
        topics = there[start : start + AT_ONCE]
        values = _standard([pools[topic] for topic in topics], rankings, options.alpha)
        for contexts, of_row, row in zip(rankings, by_row, values, strict=True):
            for topic, value in zip(topics, row.tolist(), strict=True):
                if topic in contexts:
                    of_row[topic] = _estimate(pools[topic], contexts[topic], value)
    return by_row


def _standard(
    pools: Sequence[Pool], rankings: Sequence[Mapping[int, Context]], alpha: float
) -> FloatArray:
    """rows x topics, NaN where undefined."""
    width = max(len(pool.questions) for pool in pools)
    size = max(len(pool.passages) for pool in pools)
    relevant = np.full((len(pools), size, width), np.nan)
    names = np.full((len(pools), size), "", dtype=object)
    for index, pool in enumerate(pools):
        n, q = pool.grades.shape
        # As verdicts, 1 or 0, which are read at 1 below.
        relevant[index, :n, :q] = pool.grades >= pool.eta
        names[index, :n] = [passage.name for passage in pool.passages]
    zs = [
        (number, index, z)
        for number, contexts in enumerate(rankings)
        for index, pool in enumerate(pools)
        if (z := contexts.get(pool.topic))
    ]
    ranks = max((len(z.texts) for _, _, z in zs), default=0)
    ranked = np.full((len(rankings), len(pools), ranks, width), np.nan)
    depth = np.zeros((len(rankings), len(pools)), dtype=np.int64)
    for number, index, z in zs:
        ranked[number, index, : len(z.texts), : z.grades.shape[1]] = z.grades >= z.eta
        depth[number, index] = z.depth
    return alpha_ndcg_many(
        ranked, relevant, names.astype(np.str_), 1, alpha=alpha, cutoff=depth
    ).values


def _eq4(pool: Pool, z: Context, alpha: float) -> Estimate:
    z_star = pool.grades[list(pool.required)]
    return alpha_ndcg_eq4(z.grades, z_star, pool.answerable, z.eta, alpha=alpha)


def _estimate(pool: Pool, z: Context, value: float) -> Estimate:
    n = len(pool.answerable)
    missing = int(np.isnan(z.grades[: z.depth, list(pool.answerable)]).sum())
    if np.isnan(value):
        return Estimate(None, NO_ANSWERABLE, n, missing)
    return Estimate(value, None, n, missing)
