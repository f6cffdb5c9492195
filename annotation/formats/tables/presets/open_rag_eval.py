"""Preset of open-rag-eval: its results have a row a passage, its scores a row an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    PresetError,
    PresetTables,
    column,
    listed,
    metric_columns,
    only_table,
    other_headers,
    required,
)
from annotation.formats.tables.presets.nested import parsed, text_cell
from annotation.formats.tables.source import Row, Table

SCORES = ("retrieval_score_", "generation_score_")
_PASSAGES = ("retrieved_passages", "passages")
_MARK = re.compile(r"\s*\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_PASSAGE_NUMBER = re.compile(r"\A\s*\[?\s*(\d{1,4})\s*\]?\s*\Z")


@dataclass
class _Answer:
    """Answer of a run to a query, with its passages by their number in the file."""

    row: int
    cells: Mapping[str, Cell]
    text: str = ""
    passages: list[tuple[int, str]] = field(default_factory=list)

    def add(self, position: Cell, passage: Cell) -> None:
        match = _PASSAGE_NUMBER.match(text_cell(position))
        number = int(match[1]) if match else len(self.passages) + 1
        self.passages.append((number, text_cell(passage)))

    def in_order(self) -> tuple[str, list[str]]:
        """Return the words, with marks that are places in the list of passages, and that list."""
        ordered = sorted((item for item in self.passages if item[1]), key=lambda item: item[0])
        positions: dict[str, int] = {}
        for position, (number, _) in enumerate(ordered, 1):
            positions.setdefault(str(number), position)
        file_numbers = {str(number) for number, _ in self.passages}

        def renumbered(match: re.Match[str]) -> str:
            numbers = [str(int(number)) for number in match[1].split(",")]
            if not file_numbers.issuperset(numbers):
                # Such as a year in brackets. As a number it must not be one of the list.
                return "" if all(int(number) <= len(ordered) for number in numbers) else match[0]
            cited_positions = [str(positions[number]) for number in numbers if number in positions]
            space = match[0][: len(match[0]) - len(match[0].lstrip())]
            return f"{space}[{', '.join(cited_positions)}]" if cited_positions else ""

        return _MARK.sub(renumbered, self.text), [text for _, text in ordered]


def open_rag_eval(files: Sequence[TableFile], constants: Mapping[str, str]) -> PresetTables:
    """Read results of open-rag-eval, a row a passage, and its scores, a row an answer."""
    preset = PresetTables()
    for file in files:
        table = only_table(file)
        required(table, "question", "query")
        passages = column(table, *_PASSAGES)
        metrics = [name for name in table.headers if name.startswith(SCORES)]
        if not (column(table, "passage") or metrics or column(table, "query_run")):
            raise PresetError(
                table.name, f"has no column for the passages: passage, or {SCORES[0]}..."
            )
        rows = list(_rows(table, passages))
        roles: dict[str, Any] = {"query": "topic.request"}
        names = {
            "query_id": "topic.id",
            "query_run": "repeat",
            "generated_answer": "text.body",
        }
        roles |= {header: role for header, role in names.items() if header in table.headers}
        if passages or column(table, "passage"):
            roles["passages of the answer"] = "contexts"
        used = ("query", "passage", "passage_id", *_PASSAGES)
        headers = ["query", "passages of the answer", *other_headers(table, *used)]
        part = listed(table, headers, rows)
        fractions = [name for name in metrics if name.endswith("_score")]
        roles |= metric_columns(
            preset,
            part,
            [name for name in metrics if not _is_json(part, name)],
            prefix="open-rag-eval",
            fractions=fractions,
            values=[constants.get("value", "")],
        )
        preset.counts["scores that are JSON: not read"] += sum(
            bool(text_cell(cells.get(name)))
            for _, cells in rows
            for name in metrics
            if name not in roles
        )
        base = {
            "text.kind": "report",
            "system": file.stem,
            "citations": "marks",
            "rater": "open-rag-eval",
            "rater.kind": "model",
        }
        preset.add(part, roles, base | dict(constants))
    return preset


def _is_json(table: Table, header: str) -> bool:
    return any(isinstance(parsed(cells.get(header)), list | dict) for _, cells in table.rows())


def _rows(table: Table, passages: str) -> Iterator[Row]:
    """Yield a row for each answer: the first of its rows, with all passages."""
    answers: dict[tuple[str, str], _Answer] = {}
    for number, cells in table.rows():
        query = text_cell(cells.get("query_id")) or text_cell(cells.get("query"))
        key = (query, text_cell(cells.get("query_run")))
        answer = answers.setdefault(key, _Answer(number, cells))
        answer.text = answer.text or _answer_text(parsed(cells.get("generated_answer")))
        if not answer.cells.get("query") and cells.get("query"):
            answer.cells = {**answer.cells, "query": cells.get("query")}
        value = parsed(cells.get(passages)) if passages else None
        if isinstance(value, dict):
            for position, passage in value.items():
                answer.add(str(position), passage)
        elif isinstance(value, list):
            for passage in value:
                answer.add("", passage)
        elif "passage" in table.headers:
            answer.add(cells.get("passage_id"), cells.get("passage"))
    for answer in answers.values():
        text, listed_passages = answer.in_order()
        changed: dict[str, Cell] = {
            "generated_answer": text,
            "passages of the answer": [*listed_passages],
        }
        yield answer.row, {**answer.cells, **changed}


def _answer_text(value: Any) -> str:
    """Return an answer's words; of parts with citations, joined with their marks."""
    if not isinstance(value, list):
        return text_cell(value)
    parts = []
    for part in value:
        if isinstance(part, dict):
            marks = part.get("citations")
            cited = [str(mark) for mark in marks] if isinstance(marks, list) else []
            marked = "".join(mark if mark.startswith("[") else f"[{mark}]" for mark in cited)
            parts.append(f"{text_cell(part.get('text'))} {marked}".strip())
        else:
            parts.append(text_cell(part))
    return " ".join(part for part in parts if part)
