"""Which table of the retrieval room a file holds, by its name in the URL."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.retrieval_page import csv
from evaluation.retrieval_page.board import Board, BoardRow
from evaluation.retrieval_page.choice import Choice
from evaluation.retrieval_page.compare import comparison
from evaluation.retrieval_page.judges import under_others
from evaluation.retrieval_page.orders import taus
from evaluation.retrieval_page.report import table, tests_of
from evaluation.selection import SelectionError, one_of

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
)


def download(board: Board, choice: Choice, name: str, asked: Mapping[str, str]) -> csv.Table:
    """The head and rows of one of TABLES, in the state of the page that links to it.

    Raises SelectionError for a choice that is not there, and KeyError for another table.
    """
    if name == "systems":
        return csv.systems_table(row for group in table(board, choice) for row in group.rows)
    if name == "topics":
        return csv.topics_table(board, _named(board, asked.get("row")))
    if name == "quantiles":
        return csv.quantiles_table(board.systems(choice.among), choice.metric)
    if name == "tests":
        return csv.tests_table(tests_of(board, choice), choice.metric)
    if name == "metrics":
        return csv.metrics_table(taus(board.systems(choice.among)))
    if name == "orders":
        return csv.orders_table(under_others(choice).orders, choice.metric)
    if name == "swapped":
        return csv.swapped_table(under_others(choice).orders, choice.metric)
    if name == "judges":
        return csv.judges_table(under_others(choice).pairs)
    if name == "compare":
        found = comparison(board, choice, asked)
        if found is None:
            raise SelectionError("There are not two runs, systems or bounds to compare.")
        return csv.compare_table(found, choice.metric)
    raise KeyError(name)


def _named(board: Board, name: str | None) -> tuple[BoardRow, ...]:
    if not name:
        return board.rows
    return (board.by_name[one_of("run, system or bound", name, board.by_name)],)
