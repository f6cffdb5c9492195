"""What rows score on every topic, filled in topic by topic, and their means over topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy

from evaluation.metrics.grades import BoolArray
from evaluation.metrics.ranges import highest
from evaluation.scoring.contexts import Contexts
from evaluation.scoring.measured import OnTopic
from evaluation.scoring.options import ALL, OF_RUNS
from evaluation.scoring.pools import Pool
from evaluation.scoring.row_score import COUNTS, METRICS, NO_REASON, OF_TEXTS, RowScore
from evaluation.scoring.rows import Row
from evaluation.stats.estimate import Estimate, FloatArray


class Table:
    """Arrays of rows x topics, of which each row takes its own in the end."""

    def __init__(self, n_rows: int, pools: Mapping[int, Pool], zeros: str) -> None:
        self.zeros = zeros
        self.pools = tuple(pools.values())
        each = n_rows, len(self.pools)
        by_metric = n_rows, len(METRICS), len(self.pools)
        width = max((len(pool.questions) for pool in self.pools), default=0)
        self.has = np.zeros(each, dtype=bool)
        self.values = np.full(by_metric, np.nan)
        self.why = np.full(by_metric, NO_REASON, dtype=np.int16)
        self.n = np.zeros(by_metric, dtype=np.int64)
        self.missing = np.zeros(by_metric, dtype=np.int64)
        self.counts = {name: np.zeros(each, dtype=np.int64) for name in COUNTS}
        self.unrated_texts = np.zeros(each, dtype=np.int64)
        self.tokens = np.full(each, np.nan)
        self.ndeval = np.full(each, np.nan)
        self.covered = np.zeros((*each, width), dtype=bool)
        self.reasons: dict[str, int] = {}
        self.judged = np.array([_judged(pool) for pool in self.pools], dtype=bool)
        self.judged = self.judged.reshape(len(self.pools), len(METRICS)).T

    def fill(self, topic: int, z: Contexts, measured: OnTopic) -> None:
        """Takes in what the contexts of a topic score, by its place."""
        here = z.rows, topic
        self.has[here] = True
        for index, metric in enumerate(METRICS):
            of_metric, place = measured.metrics[metric], (z.rows, index, topic)
            self.values[place], self.n[place] = of_metric.values, of_metric.n
            self.missing[place] = of_metric.missing
            for which in np.flatnonzero(np.isnan(of_metric.values)).tolist():
                code = self.reasons.setdefault(of_metric.why[which], len(self.reasons))
                self.why[z.rows[which], index, topic] = code
        self.covered[z.rows[:, np.newaxis], topic, z.asked] = measured.covered
        self.unrated_texts[here], self.tokens[here] = measured.n_unrated_texts, measured.tokens
        self.counts["n_passages"][here] = z.sizes
        self.counts["n_answerable"][here] = len(z.asked)
        self.counts["n_covered"][here] = measured.covered.sum(axis=1)
        self.counts["n_unrated_cells"][here] = measured.n_unrated_cells
        self.counts["n_without_words"][here] = measured.n_without_words

    def row_score(self, place: int, row: Row) -> RowScore:
        """The scores of a row, when all topics are filled in."""
        judged = self.judged
        if row.kind == "bound":  # Z* is there wherever it can be
            judged = judged & self.has[place]
        counts_zero = self.zeros == ALL or (self.zeros == OF_RUNS and row.kind == "run")
        if counts_zero and row.kind in ("run", "reports") and self.has[place].any():
            absent = judged & ~self.has[place]
            if not row.is_ranking:
                absent[[metric not in OF_TEXTS for metric in METRICS]] = False
            self.values[place][absent] = 0.0
        return RowScore(
            row=row,
            means=self._means(place, judged),
            places={pool.topic_name: topic for topic, pool in enumerate(self.pools)},
            has=self.has[place],
            judged=np.asarray(judged.any(axis=0)),
            values=self.values[place],
            why=self.why[place],
            reasons=tuple(self.reasons),
            n=self.n[place],
            missing=self.missing[place],
            counts={name: of_rows[place] for name, of_rows in self.counts.items()},
            unrated_texts=self.unrated_texts[place],
            tokens=self.tokens[place],
            ndeval=self.ndeval[place],
            covered=self.covered[place],
            pools=self.pools,
        )

    def _means(self, place: int, judged: BoolArray) -> dict[str, Estimate]:
        reasons = tuple(self.reasons)
        means = {}
        for index, metric in enumerate(METRICS):
            own = self.has[place] | judged[index]
            codes = self.why[place, index, own]
            why = [reasons[code] for code in codes[codes != NO_REASON].tolist()]
            mean = mean_over_topics(self.values[place, index, own], why)
            means[metric] = mean.within(0, highest(metric))
        return means


def _judged(pool: Pool) -> list[bool]:
    """Return for each metric whether a topic has judgements in the sense of trec_eval."""
    answerable, relevant = bool(pool.answerable), bool(pool.passages)
    found = {
        "coverage": answerable,
        "alpha_ndcg": answerable,
        "density": answerable and bool(pool.required_tokens),
    }
    return [found.get(metric, relevant) for metric in METRICS]


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
        return Estimate(None, _why(reasons), 0, missing)
    mean = float(values.mean())
    if n < 2:
        why = "no interval, because there are fewer than two topics"
        return Estimate(mean, None, n, missing, interval_reason=why)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, None, n, missing, low=mean - reach, high=mean + reach)


def _why(reasons: Sequence[str]) -> str:
    if len(set(reasons)) == 1:
        return reasons[0]
    if not reasons:
        return "undefined, because it has no topic"
    first = reasons[0].removeprefix("undefined, because ")
    return f"undefined, because no topic has a value; on the first of them {first}"
