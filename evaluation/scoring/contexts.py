"""The contexts Z of many rows on one topic, cut off as the options say, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.grades import BoolArray
from evaluation.scoring.options import ORACLE, Options
from evaluation.scoring.pools import Pool
from evaluation.scoring.rows import Row
from evaluation.stats.estimate import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Contexts:
    """Contexts Z of the rows that have one on a topic, padded to the longest of them.

    `rows` are their places among the rows that were given, `sizes` their texts after the cut-off,
    and `depths` the ranks at which measures of rankings stop. `is_text` says where in contexts x ranks
    there is a text; `grades` are contexts x ranks x questions, NaN = unrated, and `answers` says where
    they reach the threshold of their kind of text. `keys` are the different texts of all of them.
    """

    pool: Pool
    rows: IntArray
    are_rankings: BoolArray
    sizes: IntArray
    depths: IntArray
    is_text: BoolArray
    grades: FloatArray
    answers: BoolArray
    keys: tuple[int, ...]
    key_index: IntArray
    """contexts x ranks: where the text stands among the keys."""

    @property
    def ranks(self) -> IntArray:
        """Ranks from 0."""
        return np.arange(self.is_text.shape[1])

    @property
    def answerable(self) -> list[int]:
        """Indices of the answerable questions."""
        return list(self.pool.answerable)

    @property
    def unrated(self) -> BoolArray:
        """Mask of ungraded cells of answerable questions: contexts x ranks x questions."""
        return np.isnan(self.grades[:, :, self.answerable]) & self.is_text[:, :, np.newaxis]

    def map_texts(self, compute: Callable[[int], float]) -> FloatArray:
        """Apply a function to each text's key: contexts x ranks, 0 where there is no text."""
        values_by_key = np.array([compute(key) for key in self.keys], dtype=np.float64)
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


def contexts_on(pool: Pool, rows: Sequence[Row], options: Options) -> Contexts:
    """The contexts that these rows have on a topic."""
    indices = [index for index, row in enumerate(rows) if pool.topic in row.contexts]
    rows_on_topic = [rows[index] for index in indices]
    limit = limit_of(pool, options)
    texts = [texts_of(row, pool.topic, limit) for row in rows_on_topic]
    sizes = np.array([len(z) for z in texts], dtype=np.int64)
    stops = limit is None or options.rules.stops_at_size
    is_text = np.arange(sizes.max(initial=0)) < sizes[:, np.newaxis]
    all_keys = np.array([pk for z in texts for pk in z], dtype=np.int64)
    keys, inverse = np.unique(all_keys, return_inverse=True)
    key_index = np.zeros(is_text.shape, dtype=np.int64)
    key_index[is_text] = inverse
    grades = np.full((*is_text.shape, len(pool.questions)), np.nan)
    grades[is_text] = pool.context(keys.tolist())[inverse]
    etas = np.array([pool.scales[row.text_kind].eta for row in rows_on_topic], dtype=np.int64)
    return Contexts(
        pool=pool,
        rows=np.array(indices, dtype=np.int64),
        are_rankings=np.array([row.is_ranking for row in rows_on_topic], dtype=bool),
        sizes=sizes,
        depths=sizes if stops else np.full(len(rows_on_topic), limit),
        is_text=is_text,
        grades=grades,
        answers=grades >= etas.reshape(-1, 1, 1),
        keys=tuple(keys.tolist()),
        key_index=key_index,
    )
