"""CSV tables of the retrieval pages, in full precision, by their names in the URL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from evaluation.data.selection import SelectionError, one_of
from evaluation.result_tables import ResultTable, Statistic
from evaluation.retrieval.compare import Comparison, comparison
from evaluation.retrieval.differences import PairTest
from evaluation.retrieval.discriminative import (
    DiscriminativePower,
    MetricPower,
    discriminative_power,
)
from evaluation.retrieval.judge_swaps import JudgePair
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.retrieval.page import Group, table, taus_of, tests_of
from evaluation.retrieval.query import RetrievalQuery
from evaluation.retrieval.rankings import RankingPair, Taus, compare_sources
from evaluation.scoring.ordering import PAIR_COUNTS
from evaluation.scoring.row_score import BOUNDS, COUNTS, METRICS, RowScore
from evaluation.stats.randomisation import Randomisation

FLIP = ("p", "exact", "arrangements", "smallest_p", "seed")
PARTS = (0.05, 0.25, 0.5, 0.75, 0.95)


def systems_table(groups: Iterable[Group]) -> ResultTable:
    header = ["name", "group", "bound", "topics", "mean_passages"]
    header += [
        *map(Statistic, METRICS),
        "alpha_ndcg_ndeval",
        "cells",
        "unrated_cells",
        "texts_without_words",
    ]
    return ResultTable(
        [*header, "topics_without_results", "is_compared"],
        (
            [
                row.name,
                row.group,
                row.bound,
                row.n_topics,
                row.size[0] if row.size else None,
                *(row.means[metric] for metric in METRICS),
                row.mean_ndeval,
                row.n_cells,
                row.n_unrated,
                row.n_wordless,
                row.n_absent,
                group.name != BOUNDS and not group.is_on_other_topics,
            ]
            for group in groups
            for row in group.rows
        ),
    )


def topics_table(board: Leaderboard, rows: Iterable[RowScore]) -> ResultTable:
    """Return a row for each topic of each row, with the reason beside an undefined value."""
    header = ["name", "topic"]
    for metric in METRICS:
        header += [metric, f"{metric}_reason"]
    header += ["alpha_ndcg_ndeval", *COUNTS, "tokens", "required_passages", "required_tokens"]

    def lines() -> Iterator[list[Any]]:
        for row in rows:
            for index in np.flatnonzero(row.has | row.absent).tolist():
                line: list[Any] = [row.name, board.topics[index]]
                for metric in METRICS:
                    line += [_value(row.of(metric)[index]), row.reason(metric, index) or None]
                line.append(_value(row.ndeval[index]))
                line += [int(row.counts[name][index]) for name in COUNTS]
                required = [int(board.n_required[index]), _value(board.required_tokens[index])]
                yield [*line, _value(row.tokens[index]), *required]

    return ResultTable(header, lines())


def quantiles_table(rows: Iterable[RowScore], metric: str) -> ResultTable:
    """Return the quantiles of a metric over topics."""
    header = ["name", "metric", "n", "mean", *(f"quantile_{part}" for part in PARTS)]

    def lines() -> Iterator[list[Any]]:
        for row in rows:
            defined = row.of(metric)[~np.isnan(row.of(metric))]
            cuts = np.quantile(defined, PARTS).tolist() if len(defined) else [None] * len(PARTS)
            yield [row.name, metric, len(defined), row.means[metric].value, *cuts]

    return ResultTable(header, lines())


def tests_table(tests: Iterable[PairTest], metric: str) -> ResultTable:
    header = ["first", "second", "metric", "mean_first", "mean_second"]
    header += [Statistic("difference"), *FLIP, "p_holm", "first_higher", "second_higher"]
    return ResultTable(
        [*header, "unlike_depth"],
        (
            [
                test.first,
                test.second,
                metric,
                test.mean_first,
                test.mean_second,
                test.difference,
                *_flip(test.flip),
                test.p_holm,
                test.n_above,
                test.n_below,
                test.n_unlike,
            ]
            for test in tests
        ),
    )


def metrics_table(metric_taus: Taus) -> ResultTable:
    """Return Figure 5 as a list of pairs."""
    return ResultTable(
        ["a", "b", Statistic("tau_b"), "p", *PAIR_COUNTS],
        (
            [a, b, tau, tau.p, *tau.pair_counts]
            for a, row in zip(metric_taus.metrics, metric_taus.rows, strict=True)
            for b, tau in zip(metric_taus.metrics, row, strict=True)
        ),
    )


def orders_table(orders: Iterable[RankingPair], metric: str) -> ResultTable:
    header = ["source_a", "source_b", "metric", "tau_b", "n", "missing", "p", "reason"]
    header += ["rbo", "rbo_reason", "tau_ap", "tau_ap_reason"]
    return ResultTable(
        [*header, "swapped_pairs", "unlike_topics"],
        (
            [
                *(
                    order.a.name,
                    order.b.name,
                    metric,
                    order.tau.value,
                    order.tau.n,
                    order.tau.missing,
                ),
                *(order.tau.p, order.tau.reason, order.overlap.value, order.overlap.reason),
                *(order.tau_ap.value, order.tau_ap.reason, len(order.swapped), order.unlike),
            ]
            for order in orders
        ),
    )


def discriminative_table(powers: Iterable[MetricPower]) -> ResultTable:
    return ResultTable(
        ["metric", "share_alone", "share_holm", "pairs", "missing", "reason"],
        (
            [
                *(power.metric, power.alone.value, power.adjusted.value),
                *(power.alone.n, power.alone.missing, power.alone.reason),
            ]
            for power in powers
        ),
    )


def tops_table(power: DiscriminativePower) -> ResultTable:
    """Return the AP correlation of each two metrics, a line a pair."""
    return ResultTable(
        ["truth", "metric", "tau_ap", "n", "missing", "reason"],
        (
            [truth, metric, top.value, top.n, top.missing, top.reason]
            for truth, row in power.tops
            for metric, top in zip(METRICS, row, strict=True)
        ),
    )


def swapped_table(orders: Iterable[RankingPair], metric: str) -> ResultTable:
    header = ["source_a", "source_b", "metric", "first", "second"]
    return ResultTable(
        [*header, "first_a", "second_a", "first_b", "second_b"],
        (
            [order.a.name, order.b.name, metric, swap.first, swap.second, *swap.ours, *swap.theirs]
            for order in orders
            for swap in order.swapped
        ),
    )


def judges_table(pairs: Iterable[JudgePair]) -> ResultTable:
    """Return the metrics of each two judges, then their kappas with the people."""
    header = ["judge_a", "judge_b", "statistic", "a", "b", Statistic("difference"), *FLIP]

    def lines() -> Iterator[list[Any]]:
        for pair in pairs:
            names = [pair.a.name, pair.b.name]
            for swap in pair.metrics:
                means = [swap.metric, swap.mean_a, swap.mean_b]
                yield [*names, *means, swap.difference, *_flip(swap.flip)]
            if pair.kappas:
                kappas = ["kappa_with_people", pair.kappas.kappa_a, pair.kappas.kappa_b]
                yield [*names, *kappas, pair.kappas, *_flip(pair.kappas)]

    return ResultTable(header, lines())


def compare_table(compared: Comparison, metric: str) -> ResultTable:
    return ResultTable(
        ["topic", "metric", compared.first.name, compared.second.name, "difference"],
        (
            [topic.name, metric, topic.first, topic.second, topic.difference]
            for topic in compared.topics
        ),
    )


def _flip(flip: Randomisation) -> list[Any]:
    if flip.p is None:
        return [None] * len(FLIP)
    return [flip.p, flip.exact, flip.n_arrangements, flip.smallest_p, flip.seed]


def _value(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


TABLES = (
    "systems",
    "topics",
    "quantiles",
    "tests",
    "metrics",
    "orders",
    "swapped",
    "judges",
    "compare",
    "discriminative",
    "tops",
)


def download(
    board: Leaderboard, choice: RetrievalQuery, name: str, params: Mapping[str, str]
) -> ResultTable:
    """Return header and rows of one of TABLES, in the state of the page that links to it.

    Raises SelectionError for a choice that does not exist, and KeyError for another table.
    """
    if name == "systems":
        return systems_table(table(board, choice))
    if name == "topics":
        return topics_table(board, _rows_named(board, params.get("row")))
    if name == "quantiles":
        return quantiles_table(board.compared(choice.among, choice.topics), choice.metric)
    if name == "tests":
        return tests_table(tests_of(board, choice), choice.metric)
    if name == "metrics":
        return metrics_table(taus_of(board, choice))
    if name == "orders":
        return orders_table(compare_sources(choice).orders, choice.metric)
    if name == "swapped":
        return swapped_table(compare_sources(choice).orders, choice.metric)
    if name == "judges":
        return judges_table(compare_sources(choice).pairs)
    if name == "discriminative":
        return discriminative_table(discriminative_power(board, choice).powers)
    if name == "tops":
        return tops_table(discriminative_power(board, choice))
    if name == "compare":
        compared = comparison(board, choice, params)
        if compared is None:
            raise SelectionError("A comparison needs two runs, systems or bounds.")
        return compare_table(compared, choice.metric)
    raise KeyError(name)


def _rows_named(board: Leaderboard, name: str | None) -> tuple[RowScore, ...]:
    if not name:
        return board.rows
    return (board.by_name[one_of("run, system or bound", name, board.by_name)],)
