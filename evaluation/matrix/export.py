"""A topic's rating matrix, and the list of topics, as tables to download."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

from evaluation.csv_tables import Cell
from evaluation.matrix.page import MatrixPage, TopicRow
from evaluation.matrix.params import MatrixChoice
from evaluation.matrix.rows import MatrixRow

TEXT = ("group", "rank", "required", "text", "kind", "system")


def texts_table(page: MatrixPage) -> tuple[list[str], Iterator[list[Cell]]]:
    """A row for each text, a column for each question; a pair without a grade is empty."""
    questions = [f"question_{asked.number}" for asked in page.questions]
    header = [*TEXT, "tokens", "gain", "gain_discounted", "n_answers", "n_unrated", "coverage"]
    return [*header, *questions], (
        [
            *_text(title, row),
            row.tokens,
            row.gain,
            None if row.gain is None or row.rank is None else row.gain / log2(row.rank + 1),
            row.n_answers,
            row.n_unrated,
            row.coverage.value if row.coverage else None,
            *(cell.grade for cell in row.cells),
        ]
        for title, row in _rows(page)
    )


def pairs_table(page: MatrixPage) -> tuple[list[str], Iterator[list[Cell]]]:
    """A row for each pair of a text and a question, rated or not."""
    header = [*TEXT, "question", "words", "is_filtered", "is_answerable"]
    return [*header, "grade", "by_people", "adds"], (
        [
            *_text(title, row),
            asked.number,
            asked.body,
            int(asked.is_filtered),
            int(asked.is_answerable),
            cell.grade,
            int(cell.by_people),
            cell.role,
        ]
        for title, row in _rows(page)
        for asked, cell in zip(page.questions, row.cells, strict=True)
    )


def topics_table(
    choice: MatrixChoice, topics: list[TopicRow]
) -> tuple[list[str], Iterator[list[Cell]]]:
    """A row for each topic, with the coverage of each listed run."""
    header = ["topic", "n_questions", "n_answerable", "n_passages", "n_required", "n_pairs"]
    runs = [f"coverage {name}" for name in choice.listed]
    return [*header, "n_unrated", *runs], (
        [
            row.name,
            row.n_questions,
            row.n_answerable,
            row.n_passages,
            row.n_required,
            row.n_pairs,
            row.n_unrated,
            *(coverage.value if coverage else None for _, coverage in row.coverage),
        ]
        for row in topics
    )


def _rows(page: MatrixPage) -> Iterator[tuple[str, MatrixRow]]:
    return ((group.title, row) for group in page.groups for row in group.rows)


def _text(title: str, row: MatrixRow) -> list[Cell]:
    return [title, row.rank, row.required, row.name, row.kind, row.system]
