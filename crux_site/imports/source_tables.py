"""Tables of an upload, each with its part of a mapping."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from annotation.formats.tables.cells import SettingNeededError
from annotation.formats.tables.column_shapes import SAMPLE_ROWS, Shape, shapes_of
from annotation.formats.tables.files import (
    SPREADSHEETS,
    TableFile,
    files_of,
    open_tables,
    tables_of,
)
from annotation.formats.tables.guess import Guess, GuessedTable, guess_file, guess_table
from annotation.formats.tables.mapping import (
    MappingError,
    TableMapping,
    column_header,
    parse_mapping,
)
from annotation.formats.tables.source import Table, line_location
from annotation.formats.tables.values import Scale

READING_SETTINGS = ("header", "until", "encoding", "delimiter", "quote", "records")
"""Settings of a mapping on which the headers and rows of a table depend."""
_JSON_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class SourceTable:
    """Table of the upload, the first rows' shapes, and its part of a mapping as JSON."""

    table: Table
    file: TableFile
    shapes: Mapping[str, Shape]
    part: Mapping[str, Any]
    is_read: bool
    needed: SettingNeededError | None = None
    """Reason why the file cannot be read yet: a setting that has several values."""

    @property
    def key(self) -> tuple[str, str]:
        return self.table.file, self.table.worksheet

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return max((shape.n + shape.n_missing for shape in self.shapes.values()), default=0)

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings of a mapping that concern a file of this kind."""
        ending = self.file.ending
        if self.table.worksheet or ending in SPREADSHEETS:
            return ("header", "until")
        if ending == ".json":
            return ("records",)
        if ending == ".parquet" or ending in _JSON_LINES:
            return ()
        return ("header", "until", "delimiter", "encoding", "quote")


def tables_of_mapping(
    files: Sequence[TableFile], mapping: Mapping[str, Any], unread: Collection[int] = ()
) -> list[SourceTable]:
    """Return the tables of the files with their parts of a mapping; other tables are not read.

    `unread` are the positions of parts that a person left out. Raises MappingError where the mapping does not
    fit, and TableError.
    """
    parsed = parse_mapping(mapping)
    sources = []
    for index, (part, settings) in enumerate(zip(mapping["tables"], parsed.tables, strict=True)):
        for file in files_of(files, settings):
            for table in tables_of(file, settings):
                columns = {
                    column_header(name, table.headers, table.name): column_of(column)
                    for name, column in part["columns"].items()
                }
                merged = dict(part) | {"columns": columns, "constants": settings.constants}
                shapes = _shapes(table, settings.missing)
                sources.append(SourceTable(table, file, shapes, merged, index not in unread))
    keys = {source.key for source in sources}
    for file in files:
        if (file.name, "") not in keys:
            sources += [source for source in _unmapped(file) if source.key not in keys]
    return sources


def _unmapped(file: TableFile) -> list[SourceTable]:
    """Return the tables of a file without roles. Raises TableError."""
    try:
        tables = open_tables(file)
    except SettingNeededError as needed:
        return [_unopened(file, needed)]
    return [
        SourceTable(table, file, _shapes(table), {"columns": {}}, is_read=False) for table in tables
    ]


def _unopened(file: TableFile, needed: SettingNeededError) -> SourceTable:
    table = Table(file.name, "", (), lambda: iter(()), line_location)
    return SourceTable(table, file, {}, {"columns": {}}, is_read=True, needed=needed)


def guess_sources(
    files: Sequence[TableFile], rubrics: Mapping[str, Scale]
) -> tuple[Guess, list[SourceTable]]:
    """Return the guess of all files, and their tables with the guessed roles.

    A file that needs a setting has no columns. Raises DatasetImportError.
    """
    guess, sources = Guess(), []
    for file in files:
        n_before = len(guess.tables)
        try:
            guess_file(guess, file, rubrics, {}, has_several_files=len(files) > 1)
        except SettingNeededError as needed:
            sources.append(_unopened(file, needed))
        sources += [_guessed(file, guessed) for guessed in guess.tables[n_before:]]
    return guess, sources


def _guessed(file: TableFile, guessed: GuessedTable) -> SourceTable:
    columns = {header: column_of(column) for header, column in guessed.mapping["columns"].items()}
    part = guessed.mapping | {"columns": columns}
    return SourceTable(guessed.table, file, guessed.shapes, part, is_read=True)


def read_again(
    source: SourceTable, settings: Mapping[str, Any], rubrics: Mapping[str, Scale]
) -> tuple[SourceTable, dict[str, Any]]:
    """Return the table as other settings read it, with guessed roles, and its new rubrics.

    Raises MappingError, TableError, DatasetImportError, OSError.
    """
    location = {"sheet": source.table.worksheet} if source.table.worksheet else {}
    value = {"tables": [{"columns": {}} | location | dict(settings)]}
    parsed: TableMapping = parse_mapping(value).tables[0]
    table = tables_of(source.file, parsed)[0]
    guess = Guess()
    guess_table(guess, source.file, table, rubrics, {}, has_several_files=False)
    guessed = _guessed(source.file, guess.tables[0])
    if not guessed.n_rows:
        raise MappingError("no row is below this header")
    part = {"columns": guessed.part["columns"], "constants": guessed.part.get("constants", {})}
    part = dict(guessed.part) | location | dict(settings) | part
    return SourceTable(table, source.file, guessed.shapes, part, source.is_read), guess.rubrics


def _shapes(table: Table, missing: Sequence[str] = ()) -> dict[str, Shape]:
    """Return the shapes of the columns by the first rows. Raises TableError."""
    sample = [cells for _, cells in islice(table.rows(), SAMPLE_ROWS)]
    return shapes_of(table, sample, missing)


def column_of(value: Any) -> dict[str, Any]:
    """Return a column of a mapping as an object: "grade" is {"role": "grade"}."""
    if value is None:
        return {}
    return {"role": value} if isinstance(value, str) else dict(value)
