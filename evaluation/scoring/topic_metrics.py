"""All metrics of the contexts of several topics: `evaluation.metrics` for arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.alpha_ndcg import alpha_ndcg_many
from evaluation.metrics.density import NO_ORACLE_TOKENS, NO_TOKENS
from evaluation.metrics.grades import NO_ANSWERABLE, BoolArray
from evaluation.metrics.greedy_ideal import cumulative_dcg, hit_gains
from evaluation.metrics.ranking import NO_RELEVANT, ranking_many
from evaluation.scoring.contexts import Contexts
from evaluation.scoring.options import Options
from evaluation.scoring.pools import Pool
from evaluation.scoring.tokens import TokenCounts
from evaluation.stats.estimate import FloatArray, IntArray

NO_RANKING = "undefined, because it is one text and not a ranking of passages"
NOTHING_RATED = "undefined, because none of it is rated"
BODY_MISSING = "undefined, because the words of {} of its {} texts are not there"
REQUIRED_BODY_MISSING = "undefined, because words of the required subset are not there"


@dataclass(slots=True)
class MetricValues:
    """Values, reasons, n and missing of one metric for many contexts.

    They are those of an `Estimate`.
    """

    values: FloatArray
    reasons: NDArray[np.object_]
    n: IntArray
    missing: IntArray

    def undefine(self, mask: BoolArray, reason: str, n: IntArray, missing: IntArray) -> None:
        """Set these values to undefined, for this reason."""
        self.values[mask], self.reasons[mask] = np.nan, reason
        self.n[mask], self.missing[mask] = n[mask], missing[mask]


@dataclass(frozen=True, slots=True)
class ContextScores:
    """Scores of contexts, in their order."""

    metrics: dict[str, MetricValues]
    covered: BoolArray
    """contexts x questions; only answerable ones are covered."""
    n_answerable: IntArray
    n_unrated_cells: IntArray
    n_unrated_texts: IntArray
    n_without_words: IntArray
    tokens: FloatArray
    """NaN where the words of a text are not there and nothing stands in for them."""


def measure(
    z: Contexts, alpha_ndcg: FloatArray, counts: TokenCounts, options: Options
) -> ContextScores:
    """Return the scores of contexts, given their ranked coverage; see `score.score`."""
    unrated = z.unrated
    covered = np.asarray((z.answers & z.is_answerable).any(axis=1))
    n_covered, n_unrated = covered.sum(axis=1), unrated.sum(axis=(1, 2))
    n_asked = z.answerable.sum(axis=1)[z.topics]
    tokens = z.map_texts(lambda _, text: counts.count_of(text)).sum(axis=1)
    lacks_body = z.map_texts(lambda _, text: counts.lacks_body(text))
    n_without_words = lacks_body.sum(axis=1).astype(np.int64)
    coverage = _shares(n_covered, n_asked, n_unrated)
    density = _densities(z, n_covered, n_asked, tokens, n_without_words)
    ranked = _ranked(z, alpha_ndcg, n_asked, unrated, to_the_end=options.ideal == "paper_eq4")
    # Only of passages: a report that nobody rated has no value under any rules.
    is_nothing = options.rules.unrated_is_nothing & z.are_rankings
    blank = (n_unrated > 0) & (n_unrated == z.sizes * n_asked) & ~is_nothing
    for metric in (coverage, density, ranked):
        metric.undefine(blank, NOTHING_RATED, n_asked, n_unrated)
    metrics = {"coverage": coverage, "alpha_ndcg": ranked, "density": density}
    metrics |= _rankings(z)
    nothing = np.zeros(len(z.rows), dtype=np.int64)
    for name in ("alpha_ndcg", "recall", "average_precision", "ndcg"):
        metrics[name].undefine(~z.are_rankings, NO_RANKING, nothing, nothing)
    return ContextScores(
        metrics=metrics,
        covered=covered,
        n_answerable=n_asked,
        n_unrated_cells=n_unrated,
        n_unrated_texts=unrated.any(axis=2).sum(axis=1),
        n_without_words=n_without_words,
        tokens=tokens,
    )


def _shares(covered: IntArray, n_asked: IntArray, n_unrated: IntArray) -> MetricValues:
    """Coverage: the answerable questions that a context answers."""
    values = np.divide(covered, n_asked, out=np.full(len(covered), np.nan), where=n_asked > 0)
    return _metric_values(values, NO_ANSWERABLE, n_asked, n_unrated)


def _densities(
    z: Contexts,
    covered: IntArray,
    n_asked: IntArray,
    tokens: FloatArray,
    n_without_words: IntArray,
) -> MetricValues:
    """Density against Z*, which covers every answerable question."""
    n_tokens = np.nan_to_num(tokens).astype(np.int64)
    none = np.zeros(len(tokens), dtype=np.int64)
    oracle = z.of_pools(
        lambda pool: np.nan if pool.required_tokens is None else pool.required_tokens
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.sqrt(covered / tokens / (n_asked / oracle))
    values[oracle == 0] = np.nan
    result = _metric_values(values, "", n_tokens.copy(), none.copy())
    # From the last reason that is asked about to the first.
    result.undefine(oracle == 0, NO_ORACLE_TOKENS, n_tokens, none)
    result.undefine(tokens == 0, NO_TOKENS, n_tokens, none)
    result.undefine(np.isnan(oracle), REQUIRED_BODY_MISSING, n_tokens, none)
    lacking = np.isnan(tokens)
    for n, size in {*zip(n_without_words[lacking], z.sizes[lacking], strict=True)}:
        is_missing = lacking & (n_without_words == n) & (z.sizes == size)
        result.undefine(is_missing, BODY_MISSING.format(n, size), none, n_without_words)
    result.undefine(n_asked == 0, NO_ANSWERABLE, n_tokens, none)
    return result


def _ranked(
    z: Contexts, alpha_ndcg: FloatArray, n_asked: IntArray, unrated: BoolArray, *, to_the_end: bool
) -> MetricValues:
    """Ranked coverage; `missing` counts the unrated cells as far as the ranking is read."""
    read = np.ones_like(z.is_text) if to_the_end else z.ranks < z.depths[:, np.newaxis]
    missing = (unrated & read[:, :, np.newaxis]).sum(axis=(1, 2))
    return _metric_values(alpha_ndcg, NO_ANSWERABLE, n_asked, missing)


def _rankings(z: Contexts) -> dict[str, MetricValues]:
    """Recall, average precision and nDCG: the passages of P* are relevant."""
    n = z.of_pools(lambda pool: len(pool.passages)).astype(np.int64)
    measures = ranking_many(z.map_texts(Pool.relevance), z.sizes, n, z.depths)
    by_name = {
        "recall": measures.recall,
        "average_precision": measures.average_precision,
        "ndcg": measures.ndcg,
    }
    return {
        name: _metric_values(values, NO_RELEVANT, n, measures.missing)
        for name, values in by_name.items()
    }


def _metric_values(values: FloatArray, reason: str, n: IntArray, missing: IntArray) -> MetricValues:
    reasons = np.full(len(values), "", dtype=np.object_)
    reasons[np.isnan(values)] = reason
    return MetricValues(values.copy(), reasons, n.copy(), missing.copy())


def ranked_coverage(z: Contexts, answers: BoolArray, options: Options) -> FloatArray:
    """Return alpha-nDCG of contexts; NaN if undefined or not a ranking.

    `answers` are those of the contexts, or others of their shape.
    """
    if options.ideal == "paper_eq4":
        return _eq4(z, answers, options.alpha)
    values = np.full(len(z.rows), np.nan)
    rankings = np.flatnonzero(z.are_rankings)
    topics = z.topics[rankings]
    # Index of each ranking among those of its topic.
    first = np.searchsorted(topics, np.arange(len(z.pools)))
    index = np.arange(len(rankings)) - first[topics]
    n_rankings = int(index.max(initial=-1)) + 1
    # As verdicts, 1 or 0, which are read at 1.
    ranked = np.zeros((n_rankings, len(z.pools), *answers.shape[1:]))
    depths = np.zeros((n_rankings, len(z.pools)), dtype=np.int64)
    ranked[index, topics] = answers[rankings]
    depths[index, topics] = z.depths[rankings]
    names, relevant = _relevant(z.pools, answers.shape[2])
    of_topics = alpha_ndcg_many(ranked, relevant, names, 1, alpha=options.alpha, cutoff=depths)
    values[rankings] = of_topics.values[index, topics]
    return values


def _relevant(pools: Sequence[Pool], width: int) -> tuple[NDArray[np.str_], FloatArray]:
    """The passages of P* of several topics: their names, and which questions they answer."""
    size = max(len(pool.passages) for pool in pools)
    relevant = np.zeros((len(pools), size, width))
    names = np.full((len(pools), size), "", dtype=object)
    for topic, pool in enumerate(pools):
        n, q = pool.grades.shape
        relevant[topic, :n, :q] = pool.grades >= pool.eta
        names[topic, :n] = [passage.name for passage in pool.passages]
    return names.astype(np.str_), relevant


def _eq4(z: Contexts, answers: BoolArray, alpha: float) -> FloatArray:
    """As `alpha_ndcg_eq4`: over the whole of Z*, as it is ranked."""
    ideal = z.of_pools(lambda pool: _dcg_of_required(pool, alpha))
    dcg = cumulative_dcg(hit_gains(answers & z.is_answerable, alpha))[:, -1]
    return np.divide(dcg, ideal, out=np.full(len(dcg), np.nan), where=ideal > 0)


def _dcg_of_required(pool: Pool, alpha: float) -> float:
    answers = pool.grades[list(pool.required)][:, list(pool.answerable)] >= pool.eta
    return float(cumulative_dcg(hit_gains(answers, alpha))[-1])


def as_ndeval_reads(z: Contexts) -> tuple[BoolArray, BoolArray]:
    """Return answers as ndeval counts them, and a mask of contexts whose gain differs then.

    Given judgements of P*, passages of other topics answer nothing for ndeval; the greedy ideal, of
    P* alone, lacks them either way.
    """
    visits = z.map_texts(Pool.is_visitor)[:, :, np.newaxis] > 0
    gains = (z.answers & z.is_answerable & visits).any(axis=(1, 2))
    return z.answers & ~visits, gains & z.are_rankings
