"""Scores of rows on all topics, and their means over topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.metrics.grades import BoolArray
from evaluation.metrics.ranges import highest
from evaluation.scoring.contexts import Contexts
from evaluation.scoring.options import ALL, OF_RUNS
from evaluation.scoring.pools import Pool
from evaluation.scoring.row_score import COUNTS, METRICS, NO_REASON, OF_TEXTS, RowScore
from evaluation.scoring.rows import Row
from evaluation.scoring.topic_metrics import ContextScores
from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.jackknife import t_quantile


class Table:
    """Arrays of rows x topics, from which the score of each row is taken."""

    def __init__(self, n_rows: int, pools: Mapping[int, Pool], zeros: str) -> None:
        self.zeros = zeros
        self.pools = tuple(pools.values())
        shape = n_rows, len(self.pools)
        by_metric = n_rows, len(METRICS), len(self.pools)
        width = max((len(pool.questions) for pool in self.pools), default=0)
        self.has = np.zeros(shape, dtype=bool)
        self.values = np.full(by_metric, np.nan)
        self.reason_codes = np.full(by_metric, NO_REASON, dtype=np.int16)
        self.n = np.zeros(by_metric, dtype=np.int64)
        self.missing = np.zeros(by_metric, dtype=np.int64)
        self.counts = {name: np.zeros(shape, dtype=np.int64) for name in COUNTS}
        self.unrated_texts = np.zeros(shape, dtype=np.int64)
        self.tokens = np.full(shape, np.nan)
        self.ndeval = np.full(shape, np.nan)
        self.covered = np.zeros((*shape, width), dtype=bool)
        self.reasons: dict[str, int] = {}
        self.judged = np.array([_judged(pool) for pool in self.pools], dtype=bool)
        self.judged = self.judged.reshape(len(self.pools), len(METRICS)).T

    def fill(self, start: int, z: Contexts, scores: ContextScores) -> None:
        """Store the scores of the contexts of topics from an index on."""
        cells = z.rows, start + z.topics
        rows, topics = cells
        self.has[cells] = True
        for index, metric in enumerate(METRICS):
            of_metric = scores.metrics[metric]
            self.values[rows, index, topics] = of_metric.values
            self.n[rows, index, topics] = of_metric.n
            self.missing[rows, index, topics] = of_metric.missing
            undefined = np.flatnonzero(np.isnan(of_metric.values))
            codes = [
                self.reasons.setdefault(reason, len(self.reasons))
                for reason in of_metric.reasons[undefined].tolist()
            ]
            self.reason_codes[rows[undefined], index, topics[undefined]] = codes
        self.covered[*cells, : scores.covered.shape[1]] = scores.covered
        self.unrated_texts[cells], self.tokens[cells] = scores.n_unrated_texts, scores.tokens
        self.counts["n_passages"][cells] = z.sizes
        self.counts["n_answerable"][cells] = scores.n_answerable
        self.counts["n_covered"][cells] = scores.covered.sum(axis=1)
        self.counts["n_unrated_cells"][cells] = scores.n_unrated_cells
        self.counts["n_without_words"][cells] = scores.n_without_words

    def row_score(self, index: int, row: Row) -> RowScore:
        """The scores of a row, when all topics are filled in."""
        judged = self.judged
        if row.kind == "bound":  # Z* is there wherever it can be
            judged = judged & self.has[index]
        counts_zero = self.zeros == ALL or (self.zeros == OF_RUNS and row.kind == "run")
        if counts_zero and row.kind in ("run", "reports") and self.has[index].any():
            absent = judged & ~self.has[index]
            if not row.is_ranking:
                absent[[metric not in OF_TEXTS for metric in METRICS]] = False
            self.values[index][absent] = 0.0
        return RowScore(
            row=row,
            means=self._means(index, judged),
            topic_index={pool.topic_name: topic for topic, pool in enumerate(self.pools)},
            has=self.has[index],
            judged=np.asarray(judged.any(axis=0)),
            values=self.values[index],
            reason_codes=self.reason_codes[index],
            reasons=tuple(self.reasons),
            n=self.n[index],
            missing=self.missing[index],
            counts={name: of_rows[index] for name, of_rows in self.counts.items()},
            unrated_texts=self.unrated_texts[index],
            tokens=self.tokens[index],
            ndeval=self.ndeval[index],
            covered=self.covered[index],
            pools=self.pools,
        )

    def _means(self, row: int, judged: BoolArray) -> dict[str, Estimate]:
        reasons = tuple(self.reasons)
        means = {}
        for index, metric in enumerate(METRICS):
            counted = self.has[row] | judged[index]
            codes = self.reason_codes[row, index, counted]
            undefined_reasons = [reasons[code] for code in codes[codes != NO_REASON].tolist()]
            mean = mean_over_topics(self.values[row, index, counted], undefined_reasons)
            means[metric] = mean.within(0, highest(metric))
        return means


def _judged(pool: Pool) -> list[bool]:
    """Return for each metric whether a topic has judgements in the sense of trec_eval."""
    answerable, relevant = bool(pool.answerable), bool(pool.passages)
    judged_for = {
        "coverage": answerable,
        "alpha_ndcg": answerable,
        "density": answerable and bool(pool.required_tokens),
    }
    return [judged_for.get(metric, relevant) for metric in METRICS]


def mean_over_topics(
    of_topics: FloatArray, reasons: Sequence[str], level: float = 0.95
) -> Estimate:
    """The mean over the topics where the metric is defined, with a t interval over topics.

    `of_topics` is NaN where it is not, and `reasons` say why, in the order of the topics. `n` counts the
    topics with a value, `missing` the others. The interval is mean +- t(n - 1) x sd / sqrt(n),
    sd with n - 1, not clamped; there is none with fewer than two defined topics. None defined:
    undefined, for the topics' reason where it is one and the same, else with the first of them.
    """
    values = of_topics[~np.isnan(of_topics)]
    n, missing = len(values), len(of_topics) - len(values)
    if not n:
        return Estimate(None, _undefined_reason(reasons), 0, missing)
    mean = float(values.mean())
    if n < 2:
        interval_reason = "no interval, because there are fewer than two topics"
        return Estimate(mean, None, n, missing, interval_reason=interval_reason)
    reach = float(t_quantile((1 + level) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, None, n, missing, low=mean - reach, high=mean + reach)


def _undefined_reason(reasons: Sequence[str]) -> str:
    if len(set(reasons)) == 1:
        return reasons[0]
    if not reasons:
        return "undefined, because it has no topic"
    first = reasons[0].removeprefix("undefined, because ")
    return f"undefined, because no topic has a value; on the first of them {first}"
