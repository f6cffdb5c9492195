"""Rankings of systems compared: by two metrics, and by two sources of grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement

import numpy as np

from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.selection import one_of
from evaluation.data.sources import Source
from evaluation.retrieval.judge_swaps import JudgePair, is_judge, judge_pairs, people_of
from evaluation.retrieval.leaderboard import Leaderboard, leaderboard
from evaluation.retrieval.query import RetrievalQuery
from evaluation.scoring.ordering import OrderAgreement, order_agreement
from evaluation.scoring.row_score import RowScore
from evaluation.scoring.rows import is_oracle
from evaluation.stats.correlation import Correlation, kendall_tau_b
from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.overlap import rbo_ext
from evaluation.stats.tau_ap import symmetric_tau_ap

# Figure 5 of the paper; density is not in it.
FIGURE_5 = ("coverage", "alpha_ndcg", "recall", "average_precision", "ndcg")
PERSISTENCE = 0.9  # of rank-biased overlap


@dataclass(frozen=True)
class Taus:
    """Kendall's tau-b of the rankings by each two metrics: rows x columns of `metrics`.

    `n_systems` counts the empirical systems; bounds and oracles are left out, as in the paper.
    """

    metrics: tuple[str, ...]
    rows: tuple[tuple[OrderAgreement, ...], ...]
    n_systems: int

    @property
    def by_metric(self) -> list[tuple[str, tuple[OrderAgreement, ...]]]:
        return list(zip(self.metrics, self.rows, strict=True))


@dataclass(frozen=True)
class Swapped:
    """Two systems in opposite order, with their means under either source."""

    first: str
    second: str
    ours: tuple[float, float]
    theirs: tuple[float, float]


@dataclass(frozen=True)
class RankingPair:
    """Rankings of the systems by one metric under two sources of grades.

    `n` of tau counts the systems with a mean under both, `missing` the others. `unlike`: the
    means of some system are over different numbers of topics.
    """

    a: Source
    b: Source
    tau: Correlation
    overlap: Estimate
    tau_ap: Estimate
    """AP correlation, the mean of both directions."""
    swapped: tuple[Swapped, ...]
    unlike: bool

    @property
    def n_pairs(self) -> int:
        return self.tau.n * (self.tau.n - 1) // 2


def taus(systems: Sequence[RowScore]) -> Taus:
    """Return Figure 5 of the paper for these systems, without oracles, which are references.

    Which systems each pair of metrics compares, and the intervals: `order_agreement`, as in the
    figure that `manage.py tables` draws.

    Source: CRUX (Ju et al., 2025), Figure 5.
    """
    compared = [row for row in systems if not is_oracle(row.name)]
    if not compared:
        nobody = order_agreement(np.empty((0, 0)), np.empty((0, 0)))
        return Taus(FIGURE_5, tuple((nobody,) * len(FIGURE_5) for _ in FIGURE_5), 0)
    values = {metric: np.column_stack([row.of(metric) for row in compared]) for metric in FIGURE_5}
    correlations = {
        pair: order_agreement(values[pair[0]], values[pair[1]])
        for pair in combinations_with_replacement(FIGURE_5, 2)
    }
    rows = tuple(
        tuple(correlations.get((a, b)) or correlations[b, a] for b in FIGURE_5) for a in FIGURE_5
    )
    return Taus(FIGURE_5, rows, len(compared))


def compare_rankings(
    boards: Mapping[Source, Leaderboard], group: str, topics: str, metric: str
) -> tuple[RankingPair, ...]:
    """Compare the rankings under each two sources, in the order of the sources.

    Of two sources those systems are compared that are compared under both: see `Board.compared`.
    """
    systems = {source: board.compared(group, topics) for source, board in boards.items()}
    return tuple(_orders(a, b, systems[a], systems[b], metric) for a, b in combinations(systems, 2))


def _orders(
    a: Source, b: Source, ours: Sequence[RowScore], theirs: Sequence[RowScore], metric: str
) -> RankingPair:
    by_name = {row.name: row for row in theirs}
    ours = [row for row in ours if row.name in by_name]
    first, second = _means(ours, metric), _means([by_name[row.name] for row in ours], metric)
    both = np.flatnonzero(~(np.isnan(first) | np.isnan(second))).tolist()
    names = [row.name for row in ours]

    def ranking(means: FloatArray) -> list[str]:
        return [
            names[index] for index in sorted(both, key=lambda index: (-means[index], names[index]))
        ]

    swapped = [
        _swapped(ours[x].title, ours[y].title, (first[x], first[y]), (second[x], second[y]))
        for x, y in combinations(both, 2)
        if (first[x] - first[y]) * (second[x] - second[y]) < 0
    ]
    counts = [
        (ours[index].means[metric].n, by_name[names[index]].means[metric].n) for index in both
    ]
    return RankingPair(
        a,
        b,
        kendall_tau_b(first, second),
        rbo_ext(ranking(first), ranking(second), PERSISTENCE),
        symmetric_tau_ap(first, second),
        tuple(sorted(swapped, key=lambda swap: -abs(swap.ours[0] - swap.ours[1]))),
        unlike=len({n for pair in counts for n in pair}) > 1,
    )


def _swapped(x: str, y: str, ours: tuple[float, float], theirs: tuple[float, float]) -> Swapped:
    """Return the pair with the higher system under the first source first."""
    if ours[0] < ours[1]:
        return Swapped(y, x, (float(ours[1]), float(ours[0])), (float(theirs[1]), float(theirs[0])))
    return Swapped(x, y, (float(ours[0]), float(ours[1])), (float(theirs[0]), float(theirs[1])))


def _means(systems: Sequence[RowScore], metric: str) -> FloatArray:
    means = (row.means[metric].value for row in systems)
    # Means that are equal but for rounding are ties.
    values = [np.nan if value is None else round(value, 12) for value in means]
    return np.array(values, dtype=np.float64)


# Judges that are compared by default: each takes a scoring of its own.
DEFAULT_JUDGES = 4


@dataclass(frozen=True)
class SourceComparison:
    """Rankings of the systems under each two sources, and pairs of judges among them."""

    sources: tuple[Source, ...]
    people: Source | None
    orders: tuple[RankingPair, ...]
    pairs: tuple[JudgePair, ...]


def compared_sources(choice: RetrievalQuery) -> tuple[Source, ...]:
    """Return the sources that the URL names; by default the chosen one, judges and a majority.

    Names are separated by commas. Raises SelectionError for a name that does not exist.
    """
    names = [name for name in choice.compared.split(",") if name]
    for name in names:
        one_of("source of grades", name, (source.name for source in choice.sources))
    if not names:
        judges = [source.name for source in choice.sources if is_judge(source)][:DEFAULT_JUDGES]
        people = people_of(choice.sources)
        names = [choice.options.source.name, *judges, *([people.name] if people else [])]
    return tuple(source for source in choice.sources if source.name in names)


def compare_sources(choice: RetrievalQuery) -> SourceComparison:
    """Return the comparisons of sources, two by two, cached until the data change."""
    sources = compared_sources(choice)
    key = (
        CacheKey.RANKINGS_BY_SOURCE,
        sources,
        choice.options,
        choice.among,
        choice.topics,
        choice.metric,
    )
    return cached(choice.dataset, key, lambda: _compare_sources(choice, sources))


def _compare_sources(choice: RetrievalQuery, sources: tuple[Source, ...]) -> SourceComparison:
    dataset, group, people = choice.dataset, choice.among, people_of(choice.sources)
    topics = choice.topics
    boards = {
        source: leaderboard(dataset, replace(choice.options, source=source)) for source in sources
    }
    return SourceComparison(
        sources,
        people,
        compare_rankings(boards, group, topics, choice.metric),
        judge_pairs(dataset, boards, people, group, topics, choice.options),
    )
