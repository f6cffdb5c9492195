"""Contexts Z of many rows on several topics, cut off as the options say, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from evaluation.metrics.grades import BoolArray
from evaluation.scoring.options import ORACLE, Options
from evaluation.scoring.pools import Pool
from evaluation.scoring.rows import Row
from evaluation.stats.estimate import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Contexts:
    """Contexts Z of rows on topics: topic by topic, padded to the longest of them.

    `topics` and `rows` are indices of the pool and the row of each context, `sizes` their texts after
    the cut-off, and `depths` the ranks at which measures of rankings stop. `is_text` says where in
    contexts x ranks there is a text; `grades` are contexts x ranks x questions, NaN = unrated, and
    `answers` says where they reach the threshold of their kind of text. `keys` are the different texts
    on each topic. A topic with fewer questions than another has columns without grades.
    """

    pools: tuple[Pool, ...]
    topics: IntArray
    rows: IntArray
    are_rankings: BoolArray
    sizes: IntArray
    depths: IntArray
    is_text: BoolArray
    grades: FloatArray
    answers: BoolArray
    answerable: BoolArray
    """Mask of the answerable questions: pools x questions."""
    keys: tuple[tuple[int, ...], ...]
    """The texts on each topic."""
    key_index: IntArray
    """contexts x ranks: index of the text among the keys of all topics, one topic after the other."""

    @property
    def ranks(self) -> IntArray:
        """Ranks from 0."""
        return np.arange(self.is_text.shape[1])

    @property
    def is_answerable(self) -> BoolArray:
        """Mask of the answerable questions of each context: contexts x 1 x questions."""
        return self.answerable[self.topics][:, np.newaxis]

    @property
    def unrated(self) -> BoolArray:
        """Mask of ungraded cells of answerable questions: contexts x ranks x questions."""
        return np.isnan(self.grades) & self.is_text[:, :, np.newaxis] & self.is_answerable

    def of_pools(self, compute: Callable[[Pool], float]) -> FloatArray:
        """Apply a function to the pool of each context: contexts."""
        return np.array([compute(pool) for pool in self.pools], dtype=np.float64)[self.topics]

    def map_texts(self, compute: Callable[[Pool, int], float]) -> FloatArray:
        """Apply a function to each text: contexts x ranks, 0 where there is no text."""
        pairs = zip(self.pools, self.keys, strict=True)
        values_by_key = np.array(
            [compute(pool, key) for pool, keys in pairs for key in keys], dtype=np.float64
        )
        values = np.zeros(self.is_text.shape)
        values[self.is_text] = values_by_key[self.key_index[self.is_text]]
        return values


def texts_of(row: Row, topic: int, limit: int | None) -> tuple[int, ...]:
    """The keys of Z after the cut-off at `limit_of` the topic's pool, best first.

    Only runs are cut off: a report is one text, and Z* is the bound that it is.
    """
    context = row.contexts[topic]
    return context[:limit] if row.kind == "run" else context


def limit_of(pool: Pool, options: Options) -> int | None:
    """Return how many texts of a run are in Z, None for all.

    As long as Z* it is where there is a Z*; on a topic without one the whole of a run counts.
    """
    # Without an answerable question there is no Z*, and nothing to be as long as.
    return (len(pool.required) or None) if options.cutoff == ORACLE else options.cutoff


def contexts_on(pools: Sequence[Pool], rows: Sequence[Row], options: Options) -> Contexts:
    """The contexts that these rows have on topics."""
    limits = [limit_of(pool, options) for pool in pools]
    on_topic = [
        [index for index, row in enumerate(rows) if pool.topic in row.contexts] for pool in pools
    ]
    texts = [
        texts_of(rows[index], pool.topic, limit)
        for pool, limit, indices in zip(pools, limits, on_topic, strict=True)
        for index in indices
    ]
    topics = np.repeat(np.arange(len(pools)), [len(indices) for indices in on_topic])
    row_index = _integers(chain.from_iterable(on_topic))
    sizes = _integers(map(len, texts))
    is_text = np.arange(sizes.max(initial=0)) < sizes[:, np.newaxis]
    key_index = np.zeros(is_text.shape, dtype=np.int64)
    keys, key_index[is_text] = _different_texts(
        np.repeat(topics, sizes), _integers(chain.from_iterable(texts)), len(pools)
    )
    width = max((len(pool.questions) for pool in pools), default=0)
    grades = np.full((*is_text.shape, width), np.nan)
    grades[is_text] = _grades(pools, keys, width)[key_index[is_text]]
    etas = _thresholds(pools, rows)[topics, row_index]
    return Contexts(
        pools=tuple(pools),
        topics=topics,
        rows=row_index,
        are_rankings=np.array([row.is_ranking for row in rows], dtype=bool)[row_index],
        sizes=sizes,
        depths=sizes if options.rules.stops_at_size else _depths(limits, topics, sizes),
        is_text=is_text,
        grades=grades,
        answers=grades >= etas.reshape(-1, 1, 1),
        answerable=_answerable(pools, width),
        keys=keys,
        key_index=key_index,
    )


def _integers(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def _different_texts(
    topics: IntArray, texts: IntArray, n_topics: int
) -> tuple[tuple[tuple[int, ...], ...], IntArray]:
    """Return the different texts of each topic, and the index of each text among all of these."""
    factor = int(texts.max(initial=0)) + 1
    pairs, index = np.unique(topics * factor + texts, return_inverse=True)
    ends = np.searchsorted(pairs, np.arange(1, n_topics) * factor)
    return tuple(tuple(part.tolist()) for part in np.split(pairs % factor, ends)), index


def _grades(pools: Sequence[Pool], keys: Sequence[Sequence[int]], width: int) -> FloatArray:
    """Return the grades of the different texts of each topic, one topic after the other."""
    grades = np.full((sum(map(len, keys)), width), np.nan)
    start = 0
    for pool, of_pool in zip(pools, keys, strict=True):
        end = start + len(of_pool)
        grades[start:end, : len(pool.questions)] = pool.context(of_pool)
        start = end
    return grades


def _thresholds(pools: Sequence[Pool], rows: Sequence[Row]) -> IntArray:
    """Return the threshold of the texts of each row on each topic: pools x rows."""
    kinds = [row.text_kind for row in rows]
    different = set(kinds)
    etas = [{kind: pool.scales[kind].eta for kind in different} for pool in pools]
    return np.array([[of_kind[kind] for kind in kinds] for of_kind in etas], dtype=np.int64)


def _depths(limits: Sequence[int | None], topics: IntArray, sizes: IntArray) -> IntArray:
    """Return the depth of each context: the limit of its topic, or its size without one."""
    no_limit = -1
    of_context = np.array([no_limit if limit is None else limit for limit in limits])[topics]
    return np.where(of_context == no_limit, sizes, of_context)


def _answerable(pools: Sequence[Pool], width: int) -> BoolArray:
    answerable = np.zeros((len(pools), width), dtype=bool)
    for mask, pool in zip(answerable, pools, strict=True):
        mask[list(pool.answerable)] = True
    return answerable
