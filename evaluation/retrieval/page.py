"""Table 1 of a dataset: its systems and reference bounds by group, in the chosen order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.plurals import n_of
from evaluation.data.cache import cached
from evaluation.retrieval.board import Board
from evaluation.retrieval.differences import PairTest, pair_tests
from evaluation.retrieval.orders import Taus, taus
from evaluation.retrieval.params import NAME, Choice
from evaluation.scoring.options import ORACLE
from evaluation.scoring.row_score import BOUNDS, REPORTS, RUNS, RowScore

TITLES = {
    BOUNDS: "Reference bounds: what can be reached, and no systems",
    RUNS: "Retrieval runs: Z is what a run retrieved",
    REPORTS: "Reports: Z is the text that a system wrote",
}
KINDS = {BOUNDS: "Reference bounds", RUNS: "Retrieval runs", REPORTS: "Reports"}


@dataclass(frozen=True)
class Group:
    """Rows of one kind. Bounds, and systems on other topics than most, are set apart: see `on_same_topics`."""

    name: str
    title: str
    rows: tuple[RowScore, ...]
    is_apart: bool = False


def table(board: Board, choice: Choice) -> tuple[Group, ...]:
    """The rows by group, bounds first, each group in the chosen order, undefined rows last.

    Systems that have not the topics of the others of their kind are a group of their own behind them.
    """
    groups: list[Group] = []
    for name, title in TITLES.items():
        rows = board.systems(name)
        together = rows if name == BOUNDS else board.compared(name, choice.topics)
        apart = tuple(row for row in rows if row not in together)
        groups.append(Group(name, title, tuple(_ordered(together, choice))))
        title = _apart(name, together, apart)
        groups.append(Group(name, title, tuple(_ordered(apart, choice)), is_apart=True))
    return tuple(group for group in groups if group.rows)


def _apart(name: str, together: Sequence[RowScore], apart: Sequence[RowScore]) -> str:
    most = max((row.n_topics for row in together), default=0)
    fewer = all(row.n_topics < most for row in apart)
    return f"{KINDS[name]} on {'fewer' if fewer else 'other'} topics: not compared with those above"


def tests_of(board: Board, choice: Choice) -> tuple[PairTest, ...]:
    """Every two systems of the chosen kind by the chosen metric, kept until the data change."""
    key = ("retrieval tests", choice.options, choice.among, choice.topics, choice.metric)
    systems = board.compared(choice.among, choice.topics)
    return cached(choice.dataset, key, lambda: pair_tests(systems, choice.metric))


def taus_of(board: Board, choice: Choice) -> Taus:
    """How alike the metrics order the systems of the chosen kind, kept until the data change."""
    key = ("taus", choice.options, choice.among, choice.topics)
    systems = board.compared(choice.among, choice.topics)
    return cached(choice.dataset, key, lambda: taus(systems))


def depth(board: Board, choice: Choice) -> str:
    """How deep runs are read, in a sentence."""
    if choice.options.cutoff is None:
        return "Runs are read to their ends."
    if choice.options.cutoff != ORACLE:
        return f"Runs are read to rank {choice.cutoff}."
    n = int((board.n_required == 0).sum())
    if n == len(board.topics):
        return "Runs are read to their ends: by these grades no topic has a required subset Z*."
    whole = f" On {n_of(n, 'topic')} without one all of a run counts." if n else ""
    return f"Runs are read as far as the topic’s required subset Z* is long.{whole}"


def summary(board: Board, choice: Choice) -> str:
    """What the page is about, in a sentence."""
    runs, reports = len(board.systems(RUNS)), len(board.systems(REPORTS))
    what = [n_of(runs, "retrieval run")]
    if reports:
        what.append(f"{n_of(reports, 'system')} with reports")
    topics = n_of(len(board.topics), "topic")
    options = choice.options
    kind = f", on the questions that are {options.questions.title}" if options.questions else ""
    return (
        f"{' and '.join(what)}, {topics}, by the grades of {options.source.title} from η = {options.eta}"
        f"{kind}."
    )


def _ordered(rows: Iterable[RowScore], choice: Choice) -> Sequence[RowScore]:
    named = sorted(rows, key=lambda row: (row.bound or 0, row.name))
    if choice.by == NAME:
        return named[::-1] if choice.falls else named
    known = [row for row in named if row.means[choice.by].value is not None]
    known.sort(key=lambda row: row.means[choice.by].value or 0.0, reverse=choice.falls)
    return [*known, *(row for row in named if row.means[choice.by].value is None)]
