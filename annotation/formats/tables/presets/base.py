"""Shared parts of presets: tables with a mapping each, derived tables, columns of metrics."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from annotation.errors import UserError
from annotation.formats.tables.cells import Cell, TableError
from annotation.formats.tables.files import TableFile, open_tables
from annotation.formats.tables.mapping import Role, TableMapping
from annotation.formats.tables.new_rubrics import words_rubric
from annotation.formats.tables.presets.nested import text_cell
from annotation.formats.tables.source import Row, Table, is_empty, is_unnamed
from annotation.formats.tables.values import (
    FALSE,
    TRUE,
    CellError,
    has_comma,
    is_missing,
    normal,
    number_of_tool,
)

SAMPLE_ROWS = 1_000  # in which a decimal comma is looked for
MAX_LABELS = 12  # different words of a column that are grades with names
QUESTIONS = ("question", "query", "prompt", "input", "user_input", "request", "topic")
ANSWERS = ("answer", "output", "response", "generated_answer", "result", "completion", "text")
FURTHER_ANSWERS = (
    "further answers of a system to the same question: the system is called .run2 and so on"
)


class PresetError(UserError):
    """Files that are not of a preset's tool; `location` is the file."""

    def __init__(self, location: str, message: str) -> None:
        super().__init__(message)
        self.location = location


@dataclass
class PresetTables:
    """Tables of a preset, each with its mapping as JSON, and the rubrics that they need."""

    tables: list[tuple[Table, dict[str, Any]]] = field(default_factory=list)
    rubrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """Rows and cells that are left out, by label, for the summary of the import."""

    def add(self, table: Table, columns: Mapping[str, Any], constants: Mapping[str, str]) -> None:
        part: dict[str, Any] = {"columns": dict(columns), "constants": dict(constants)}
        numbers = [
            header
            for header, role in columns.items()
            if isinstance(role, dict) and role["role"] in (Role.VALUE, Role.GRADE)
        ]
        sample = [
            cells.get(header)
            for _, cells in islice(table.rows() if numbers else (), SAMPLE_ROWS)
            for header in numbers
        ]
        has_point = any(isinstance(cell, str) and "." in cell for cell in sample)
        if any(map(has_comma, sample)) and not has_point:
            part["decimal"] = ","  # as a spreadsheet program saved the file again
        self.tables.append((table, part))


class Runs:
    """Names of the systems of answers, of which each question may have several by one system.

    The second answer is by SYSTEM.run2, and so on: the report of a system about a topic has one text.
    """

    def __init__(self, preset: PresetTables) -> None:
        self._preset = preset
        self._numbers: dict[tuple[str, str], dict[str, int]] = {}

    def system(self, name: str, request: str, answer: str) -> str:
        """Return the name; `answer` is the id of the answer, or its words."""
        numbers = self._numbers.setdefault((name, normal(request)), {})
        if answer not in numbers:
            numbers[answer] = len(numbers) + 1
            self._preset.counts[FURTHER_ANSWERS] += numbers[answer] > 1
        return name if numbers[answer] == 1 else f"{name}.run{numbers[answer]}"


class PresetFileError(TableError):
    """Row that cannot be read while a preset looks at the rows; `file` is the file's name."""

    def __init__(self, file: str, message: str, location: str) -> None:
        super().__init__(message, location)
        self.file = file


def only_table(file: TableFile, *records: str) -> Table:
    """Return the table of a file that must have one. Raises PresetError.

    `records` are possible paths of the array in JSON files that have several.
    """
    try:
        try:
            table = open_tables(file)[0]
        except TableError:
            if file.ending != ".json" or (array := _at_path(file, records)) is None:
                raise
            table = array
    except TableError as error:
        raise PresetError(f"{file.name}{error.location}", str(error)) from error
    except OSError as error:
        raise PresetError(file.name, f"cannot be read: {error.strerror or error}") from error

    def rows() -> Iterator[Row]:
        try:
            yield from table.rows()
        except TableError as error:
            raise PresetFileError(file.name, str(error), error.location) from error

    return replace(table, rows=rows)


def _at_path(file: TableFile, records: Iterable[str]) -> Table | None:
    """Return the table of the first of these arrays that a JSON file has."""
    for path in records:
        try:
            return open_tables(file, TableMapping(columns={}, records=path))[0]
        except TableError:
            continue
    return None


def listed(table: Table, headers: Iterable[str], rows: Sequence[Row]) -> Table:
    """Return a table of rows in memory, with the places of another table."""
    return replace(table, headers=tuple(headers), rows=lambda: iter(rows))


def other_headers(table: Table, *used: str) -> list[str]:
    """Return the headers of a table without those that a preset reads, nested ones included."""
    return [
        name
        for name in table.headers
        if not any(name == header or name.startswith(f"{header}.") for header in used)
    ]


def column(table: Table, *names: str) -> str:
    """Return the first of these headers that a table has; "" for none."""
    return next((name for name in names if name in table.headers), "")


def required(table: Table, role: str, *names: str) -> str:
    """Return the first of these headers that a table has.

    Raises PresetError, which lists them, where there is none.
    """
    header = column(table, *names)
    if not header:
        raise PresetError(table.name, f"has no column for the {role}: {', '.join(names)}")
    return header


def slug_of(name: str) -> str:
    """Return a name as a part of a rubric's slug: lower case, letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "metric"


def derived(
    table: Table, headers: Iterable[str], rows: Callable[[Iterator[Row]], Iterator[Row]]
) -> Table:
    """Return a table whose rows are made from those of another, with the places of that one."""
    return replace(table, headers=tuple(headers), rows=lambda: rows(table.rows()))


def with_columns(
    table: Table, new: Mapping[str, Callable[[Mapping[str, Cell]], Cell]], *sources: str
) -> Table:
    """Return the table with further columns, computed from each row.

    `sources` are headers that they are computed from: they are left out, so that no summary lists them as
    not read.
    """

    def rows(of_table: Iterator[Row]) -> Iterator[Row]:
        for number, cells in of_table:
            yield number, {**cells, **{name: of(cells) for name, of in new.items()}}

    return derived(table, [*other_headers(table, *sources), *new], rows)


def rows_with(
    preset: PresetTables, table: Table, label: str, keep: Callable[[Mapping[str, Cell]], bool]
) -> Table:
    """Return the table without some rows, and count them in the preset under a label."""
    n = sum(not keep(cells) for _, cells in table.rows())
    preset.counts[label] += n
    if not n:
        return table

    def rows(of_table: Iterator[Row]) -> Iterator[Row]:
        return (row for row in of_table if keep(row[1]))

    return derived(table, table.headers, rows)


def rows_answered(preset: PresetTables, table: Table, header: str) -> Table:
    """Return the table without rows that lack this cell: no answer, no metric of one."""
    label = "rows without an answer: left out"
    return rows_with(preset, table, label, lambda cells: not is_empty(cells.get(header)))


def answer_constants(
    file: TableFile, constants: Mapping[str, str], rater: str = "", kind: str = "model"
) -> dict[str, str]:
    """Return the constants of rows with an answer: the system is called like the file."""
    base = {"text.kind": "report", "system": file.stem}
    return base | ({"rater": rater, "rater.kind": kind} if rater else {}) | dict(constants)


def numbered_runs(
    runs: Runs,
    system: Callable[[Mapping[str, Cell]], str],
    question: str,
    answer: str,
    answer_id: str,
) -> Callable[[Mapping[str, Cell]], Cell]:
    """Return the function of a row's system, with the number of its answer to the question."""

    def name(cells: Mapping[str, Cell]) -> Cell:
        if is_empty(cells.get(answer)):
            return system(cells)
        identity = text_cell(cells.get(answer_id)) or text_cell(cells.get(answer))
        return runs.system(system(cells), text_cell(cells.get(question)), identity)

    return name


def nested_metric_columns(
    preset: PresetTables, table: Table, path: str, *, prefix: str, are_fractions: bool = False
) -> dict[str, Any]:
    """Return `metric_columns` of the columns below a path; the names of metrics lack it."""
    headers = [header for header in table.headers if header.startswith(path)]
    return metric_columns(
        preset,
        table,
        headers,
        prefix=prefix,
        fractions=[header.removeprefix(path) for header in headers] if are_fractions else (),
        name_of=lambda header: header.removeprefix(path),
    )


def metric_columns(
    preset: PresetTables,
    table: Table,
    headers: Sequence[str],
    *,
    prefix: str,
    fractions: Iterable[str] = (),
    name_of: Callable[[str], str] = lambda header: header,
    rater: Mapping[str, str] | None = None,
    values: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the roles of columns of metrics, and add the rubrics that they need.

    A metric that the tool defines as a fraction, and any with another number than 0 and 1, is a value of
    the report. One of 0 and 1 alone is a grade under PREFIX-METRIC with eta 1, one of few words a grade under
    a rubric of these words. Other columns have no role. `values` are metrics that a person wants as values.
    """
    roles: dict[str, Any] = {}
    headers = [header for header in headers if not is_unnamed(header)]  # such as row numbers
    cells_by_header: dict[str, list[Cell]] = {header: [] for header in headers}
    for _, cells in table.rows():
        for header in headers:
            cell = cells.get(header)
            if not is_missing(cell):
                cells_by_header[header].append(cell)
    as_value = {*fractions, *values}
    for header in headers:
        metric = name_of(header)
        kind = (
            "value"
            if metric in as_value and _all_numbers(cells_by_header[header])
            else _metric_kind(cells_by_header[header])
        )
        slug = f"{prefix}-{slug_of(metric)}"
        if kind == "value":
            roles[header] = {"role": Role.VALUE.value, "measure": metric}
        elif kind == "binary":
            roles[header] = {"role": Role.GRADE.value, "rubric": slug, **(rater or {})}
            preset.rubrics[slug] = binary_rubric(metric)
        elif kind == "words":
            roles[header] = {"role": Role.GRADE.value, "rubric": slug, **(rater or {})}
            preset.rubrics[slug] = labels_rubric(metric, map(str, cells_by_header[header]))
    return roles


def binary_rubric(title: str) -> dict[str, Any]:
    return {"scale": "ordinal", "levels": [0, 1], "eta": 1, "title": title}


def labels_rubric(title: str, labels: Iterable[str]) -> dict[str, Any]:
    """Return a rubric of words: ordinal if their order is known, else nominal by alphabet.

    Labels that are numbers, or begin with numbers of their own (`4 - good`), are grades of these numbers.
    """
    return words_rubric(sorted({label.strip() for label in labels})) | {"title": title}


def _all_numbers(cells: Sequence[Cell]) -> bool:
    try:
        for cell in cells:
            number_of_tool(cell)
    except CellError:
        return False
    return bool(cells)


def _metric_kind(cells: Sequence[Cell]) -> str:
    if not cells or any(isinstance(cell, list | dict) for cell in cells):
        return ""
    texts = {str(cell).strip() for cell in cells}
    if all(
        isinstance(cell, bool) or str(cell).strip().casefold() in TRUE | FALSE for cell in cells
    ):
        return "binary"
    if _all_numbers(cells):
        return "binary" if {number_of_tool(cell) for cell in cells} <= {0.0, 1.0} else "value"
    if len(texts) <= MAX_LABELS and len(texts) > 1 and all(len(text) <= 40 for text in texts):
        return "words"
    return ""


def is_message_list(cell: Cell) -> bool:
    """Return whether a cell holds a conversation instead of one question."""
    return isinstance(cell, list) or (
        isinstance(cell, str) and cell.lstrip().startswith(("[{", "[Human"))
    )
