"""Page of nuggets: systems by nugget scores, compared with their order by coverage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.replications.nuggets.metrics import SCORES
from evaluation.replications.nuggets.query import NuggetQuery
from evaluation.replications.nuggets.scores import (
    ReportScore,
    SystemScore,
    TopicNuggets,
    load_nuggets,
    score_reports,
    score_systems,
)
from evaluation.scoring.ordering import ROUNDING, OrderAgreement, order_agreement
from evaluation.scoring.row_score import RowScore
from evaluation.scoring.rows import REPORTS, is_oracle
from evaluation.scoring.score import cached_scores
from evaluation.stats.estimate import Estimate, FloatArray

TITLES = {
    "strict_vital": ("Strict vital", "share of the vital nuggets with full support"),
    "strict_all": ("Strict all", "share of all nuggets with full support"),
    "vital": ("Vital", "the same for vital nuggets, with partial support as one half"),
    "all": ("All", "the same for all nuggets, with partial support as one half"),
}


@dataclass(frozen=True)
class ComparedSystem:
    """Means of a system by each nugget score and by coverage, over its own topics.

    `ranks` are those in the order by each, 1 for the highest, None where it has no mean.
    """

    system: str
    nuggets: Mapping[str, Estimate]
    coverage: Estimate
    ranks: tuple[int | None, ...] = ()

    @property
    def means(self) -> tuple[Estimate, ...]:
        return (*self.nuggets.values(), self.coverage)

    @property
    def ranked_means(self) -> list[tuple[Estimate, int | None]]:
        return list(zip(self.means, self.ranks, strict=True))


@dataclass(frozen=True)
class Order:
    """The order of the systems by each nugget score beside that by coverage.

    `n_topics` are compared; `n_lone` topics of either dataset are not there in the other.
    """

    rows: tuple[ComparedSystem, ...]
    taus: Mapping[str, OrderAgreement]
    n_topics: int
    n_lone: int


@dataclass(frozen=True)
class NuggetReport:
    """All numbers of a state of the page. `order` is None without a comparison dataset."""

    topics: tuple[TopicNuggets, ...]
    reports: tuple[ReportScore, ...]
    systems: tuple[SystemScore, ...]
    order: Order | None

    @property
    def counts(self) -> dict[str, int]:
        """Sums of the topics' counts, and the number of topics.

        Groups are counted in each topic.
        """
        topic_counts = [topic.counts for topic in self.topics]
        names = topic_counts[0] if topic_counts else ()
        return {
            "topics": len(topic_counts),
            **{name: sum(counts[name] for counts in topic_counts) for name in names},
        }


def nugget_report(choice: NuggetQuery) -> NuggetReport:
    """The numbers of a state of the page; the scores are kept until the data change."""
    key = (CacheKey.NUGGET_SCORES, choice.support, choice.importance, choice.rules)
    topics, reports, systems = cached(choice.dataset, key, lambda: _scored(choice))
    return NuggetReport(topics, reports, systems, _order(choice, topics, systems))


def _scored(
    choice: NuggetQuery,
) -> tuple[tuple[TopicNuggets, ...], tuple[ReportScore, ...], tuple[SystemScore, ...]]:
    topics = load_nuggets(choice.dataset, choice.importance)
    reports = score_reports(choice.dataset, topics, choice.support, choice.rules)
    return topics, reports, score_systems(reports)


def _order(
    choice: NuggetQuery, topics: tuple[TopicNuggets, ...], systems: tuple[SystemScore, ...]
) -> Order | None:
    if choice.comparison is None or choice.scoring is None:
        return None
    scores = cached_scores(choice.comparison, choice.scoring.options)
    theirs = {
        row.row.system: row
        for row in scores.rows
        if row.row.kind == "reports" and row.row.name == f"{REPORTS}{row.row.system}"
    }
    shared = [topic.name for topic in topics if topic.name in scores.topic_names]
    both = [
        (system, theirs[system.system])
        for system in systems
        if system.system in theirs and not is_oracle(system.system)
    ]
    rows = [
        ComparedSystem(system.system, system.means, row.means["coverage"]) for system, row in both
    ]
    return Order(
        tuple(_with_ranks(rows)),
        _taus(both, shared, [scores.topic_names.index(name) for name in shared]),
        len(shared),
        len(topics) + len(scores.topic_names) - 2 * len(shared),
    )


def _taus(
    both: Sequence[tuple[SystemScore, RowScore]], shared: Sequence[str], indices: Sequence[int]
) -> dict[str, OrderAgreement]:
    """Return the agreement of orders by nugget score.

    `shared` are topics, and `indices` their positions in the other dataset.
    """

    def of(columns: Iterable[FloatArray]) -> FloatArray:
        return np.array(list(columns), dtype=np.float64).reshape(len(both), len(shared)).T

    coverage = of(row.of("coverage")[list(indices)] for _, row in both)
    return {
        name: order_agreement(of(system.on(shared, name) for system, _ in both), coverage)
        for name in SCORES
    }


def _with_ranks(rows: Sequence[ComparedSystem]) -> Iterator[ComparedSystem]:
    """Yield the rows with their ranks; equal means share the higher one."""
    columns = [
        [None if mean.value is None else round(mean.value, ROUNDING) for mean in column]
        for column in zip(*(row.means for row in rows), strict=True)
    ]
    for index, row in enumerate(rows):
        values = [column[index] for column in columns]
        ranks = (
            None if value is None else 1 + sum(v is not None and v > value for v in column)
            for value, column in zip(values, columns, strict=True)
        )
        yield replace(row, ranks=tuple(ranks))
