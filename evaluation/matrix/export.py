"""CSV tables of a topic's rating matrix, and of the list of topics."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

from evaluation.matrix.page import NOT_RANKED, MatrixPage, TopicRow
from evaluation.matrix.query import MatrixQuery
from evaluation.matrix.rows import MatrixRow
from evaluation.result_tables import Cell, ResultTable, Statistic
from evaluation.stats.estimate import Estimate

TEXT = ("group", "rank", "required", "text", "kind", "system")


def texts_table(page: MatrixPage) -> ResultTable:
    """Return a row for each text, with a column for each question; no grade is an empty cell."""
    questions = [f"question_{question.number}" for question in page.questions]
    header = [*TEXT, "tokens", "gain", "gain_discounted", "n_answers", "n_unrated"]
    header.append(Statistic("coverage"))
    return ResultTable(
        [*header, *questions],
        (
            [
                *_text(title, row),
                row.tokens,
                row.gain,
                None if row.gain is None or row.rank is None else row.gain / log2(row.rank + 1),
                row.n_answers,
                row.n_unrated,
                row.coverage,
                *(cell.grade for cell in row.cells),
            ]
            for title, row in _rows(page)
        ),
    )


def pairs_table(page: MatrixPage) -> ResultTable:
    """Return a row for each pair of a text and a question, rated or not."""
    header = [*TEXT, "question", "words", "is_filtered", "is_answerable"]
    return ResultTable(
        [*header, "grade", "by_people", "adds"],
        (
            [
                *_text(title, row),
                question.number,
                question.body,
                int(question.is_filtered),
                int(question.is_answerable),
                cell.grade,
                int(cell.by_people),
                cell.role,
            ]
            for title, row in _rows(page)
            for question, cell in zip(page.questions, row.cells, strict=True)
        ),
    )


def topics_table(choice: MatrixQuery, topics: list[TopicRow]) -> ResultTable:
    """Return a row for each topic, with the coverage of each listed run."""
    header = ["topic", "n_questions", "n_answerable", "n_passages", "n_required", "n_pairs"]
    runs = [Statistic(f"coverage {name}") for name in choice.listed]
    return ResultTable(
        [*header, "n_unrated", *runs],
        (
            [
                row.name,
                row.n_questions,
                row.n_answerable,
                row.n_passages,
                row.n_required,
                row.n_pairs,
                row.n_unrated,
                *(coverage or Estimate(None, NOT_RANKED, 0) for _, coverage in row.coverage),
            ]
            for row in topics
        ),
    )


def _rows(page: MatrixPage) -> Iterator[tuple[str, MatrixRow]]:
    return ((group.title, row) for group in page.groups for row in group.rows)


def _text(title: str, row: MatrixRow) -> list[Cell]:
    return [title, row.rank, row.required, row.name, row.kind, row.system]
