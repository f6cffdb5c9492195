"""Leaderboard (Table 1): systems and reference bounds of a dataset by group, sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.page_tables import Order, sort_rows
from evaluation.retrieval.differences import PairTest, pair_tests
from evaluation.retrieval.leaderboard import Leaderboard
from evaluation.retrieval.query import NAME, RetrievalQuery
from evaluation.retrieval.rankings import Taus, taus
from evaluation.scoring.options import ORACLE, Options
from evaluation.scoring.row_score import BOUNDS, REPORTS, RUNS, RowScore

TITLES = {
    BOUNDS: "Reference bounds: limits of what systems can reach",
    RUNS: "Retrieval runs: Z is the retrieved passages",
    REPORTS: "Reports: Z is the report of a system",
}
KINDS = {BOUNDS: "Reference bounds", RUNS: "Retrieval runs", REPORTS: "Reports"}


@dataclass(frozen=True)
class Group:
    """Rows of one kind.

    Bounds, and systems on other topics than most, are separate groups: see `on_same_topics`.
    """

    name: str
    title: str
    rows: tuple[RowScore, ...]
    is_on_other_topics: bool = False


def table(board: Leaderboard, choice: RetrievalQuery) -> tuple[Group, ...]:
    """Return the rows by group, bounds first, each group sorted, undefined rows last.

    Systems that have not the topics of the others of their kind are a group of their own behind them.
    """
    groups: list[Group] = []
    for name, title in TITLES.items():
        rows = board.systems(name)
        comparable = rows if name == BOUNDS else board.compared(name, choice.topics)
        other_rows = tuple(row for row in rows if row not in comparable)
        groups.append(Group(name, title, tuple(_ordered(comparable, choice))))
        title = _title_of_others(name, comparable, other_rows)
        groups.append(
            Group(name, title, tuple(_ordered(other_rows, choice)), is_on_other_topics=True)
        )
    return tuple(group for group in groups if group.rows)


def _title_of_others(name: str, comparable: Sequence[RowScore], others: Sequence[RowScore]) -> str:
    n_topics = max((row.n_topics for row in comparable), default=0)
    fewer = all(row.n_topics < n_topics for row in others)
    return f"{KINDS[name]} on {'fewer' if fewer else 'other'} topics: not compared with those above"


def tests_of(board: Leaderboard, choice: RetrievalQuery) -> tuple[PairTest, ...]:
    """Return the tests of all pairs of chosen systems by the metric, cached."""
    systems = board.compared(choice.among, choice.topics)
    return tests_between(choice.dataset, choice.options, systems, choice.metric)


def tests_between(
    dataset: Dataset, options: Options, systems: Sequence[RowScore], metric: str
) -> tuple[PairTest, ...]:
    """Return the tests of all pairs of these rows of the leaderboard by a metric, cached."""
    key = (CacheKey.PAIR_TESTS, options, tuple(row.name for row in systems), metric)
    return cached(dataset, key, lambda: pair_tests(systems, metric))


def taus_of(board: Leaderboard, choice: RetrievalQuery) -> Taus:
    """Return the rank correlations of metrics over the chosen systems, cached."""
    key = (CacheKey.RANK_CORRELATIONS, choice.options, choice.among, choice.topics)
    systems = board.compared(choice.among, choice.topics)
    return cached(choice.dataset, key, lambda: taus(systems))


def depth(board: Leaderboard, choice: RetrievalQuery) -> str:
    """Return the depth to which runs are read, as a sentence."""
    if choice.options.cutoff is None:
        return "All passages of a run count."
    if choice.options.cutoff != ORACLE:
        if choice.options.cutoff == 1:
            return "The first passage of a run counts."
        return f"The first {choice.cutoff} passages of a run count."
    n = int((board.n_required == 0).sum())
    if n == len(board.topics):
        return "All passages of a run count, as no topic has a required subset Z* by these grades."
    whole = f" On {n_of(n, 'topic')} without one, all passages count." if n else ""
    return f"As many passages of a run count as the topic’s required subset Z* has.{whole}"


def summary(board: Leaderboard, choice: RetrievalQuery) -> str:
    """Return the counts and the options of the page, as a sentence."""
    runs, reports = len(board.systems(RUNS)), len(board.systems(REPORTS))
    counts = [n_of(runs, "retrieval run")]
    if reports:
        counts.append(f"{n_of(reports, 'system')} with reports")
    topics = n_of(len(board.topics), "topic")
    options = choice.options
    kind = f", on the questions that are {options.questions.title}" if options.questions else ""
    return (
        f"{' and '.join(counts)}, {topics}, by the grades of {options.source.title} from η = {options.eta}"
        f"{kind}."
    )


def _ordered(rows: Iterable[RowScore], choice: RetrievalQuery) -> Sequence[RowScore]:
    by_name = sorted(rows, key=lambda row: (row.bound or 0, row.name))
    if choice.by == NAME:
        return by_name[::-1] if choice.falls else by_name
    order = Order(choice.by, choice.falls)
    return sort_rows(by_name, order, lambda row: row.means[choice.by].value)
