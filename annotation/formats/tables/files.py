"""Files that hold tables, and the choice of their reader by name and content."""

from __future__ import annotations

import codecs
import fnmatch
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.formats.content import UNREADABLE, begins_value, opened
from annotation.formats.layout import printable
from annotation.formats.tables import json_files, text_files
from annotation.formats.tables.cells import Record, TableError
from annotation.formats.tables.mapping import MappingError, TableMapping
from annotation.formats.tables.source import Row, Table, grid_table, line_location

if TYPE_CHECKING:
    from annotation.formats.tables import xlsx

SPREADSHEETS = (".xlsx", ".xlsm")
OTHER_SPREADSHEETS = (".xls", ".xlsb", ".ods", ".numbers")
TEXT = (".csv", ".tsv", ".txt", ".tab")
JSON_LINES = (".jsonl", ".ndjson")
_OTHER_FILES = (
    *(".arrow", ".feather", ".orc", ".avro", ".pkl", ".pickle", ".npy", ".npz", ".h5", ".hdf5"),
    *(".db", ".sqlite", ".sqlite3", ".duckdb", ".rds", ".rdata", ".sav", ".dta", ".mat", ".pt"),
    *(".pdf", ".doc", ".docx", ".odt", ".rtf", ".html", ".htm", ".xml", ".ipynb"),
)
_NAMED_ENDINGS = (
    *(".csv", ".tsv", ".tab", ".json", *JSON_LINES, ".parquet", ".eval", ".zip"),
    *(*SPREADSHEETS, *OTHER_SPREADSHEETS, *_OTHER_FILES),
)
_START = 2**12  # bytes of which one is zero in a binary file
_AT_ONCE = 500  # rows of a Parquet file


@dataclass(frozen=True)
class TableFile:
    """File that was given: its path, and its name for people."""

    path: Path
    name: str

    @classmethod
    def of(cls, path: Path) -> TableFile:
        return cls(path, printable(path.name))

    @cached_property
    def ending(self) -> str:
        """Ending of the name; ".json" for JSON under a name that says nothing, such as .txt."""
        name = self.name.lower().removesuffix(".gz")
        ending = f".{name.rpartition('.')[2]}" if "." in name else ""
        return ending if ending in _NAMED_ENDINGS or not json_files.is_json(self.path) else ".json"

    @property
    def stem(self) -> str:
        """Name without endings, by which a system or a rater is called."""
        return self.name.removesuffix(".gz").rpartition(".")[0] or self.name


def open_tables(file: TableFile, mapping: TableMapping | None = None) -> list[Table]:
    """Return the tables of a file: one, or one for each visible worksheet.

    `mapping` says how the file is read; a worksheet that it names may be hidden. Raises TableError, OSError.
    """
    settings = mapping or TableMapping(columns={})
    ending = file.ending
    if ending in OTHER_SPREADSHEETS:
        raise TableError("save it as .xlsx or CSV: this kind of spreadsheet is not read")
    if ending in _OTHER_FILES and _is_markup_or_binary(file.path):
        raise TableError("is no table: save it as .xlsx, CSV, JSON lines or Parquet")
    if ending in SPREADSHEETS or _is_zip(file.path):
        return _sheets(file, settings)
    if ending == ".parquet":
        return [_parquet(file)]
    if ending in JSON_LINES and not begins_value(file.path):
        return [json_files.json_lines_table(file.path, file.name)]
    if ending == ".json" or ending in JSON_LINES:
        if not settings.records and json_files.is_json_lines(file.path):
            return [json_files.json_lines_table(file.path, file.name)]
        return [json_files.json_table(file.path, file.name, settings.records)]
    return [_text(file, settings)]


def tables_of(file: TableFile, mapping: TableMapping) -> list[Table]:
    """Return the tables of a file that a mapping names.

    Raises MappingError, TableError, OSError.
    """
    tables = open_tables(file, mapping)
    if mapping.sheet:
        matching = [table for table in tables if table.worksheet == mapping.sheet]
        if not matching:
            listed = ", ".join(table.worksheet for table in tables if table.worksheet) or "none"
            raise MappingError(f"{file.name} has no worksheet {mapping.sheet!r}. It has: {listed}.")
        return matching
    if len(tables) > 1:
        listed = ", ".join(table.worksheet for table in tables)
        raise MappingError(f"{file.name} has several sheets ({listed}): name one as `sheet`")
    return tables


def files_of(files: Sequence[TableFile], mapping: TableMapping) -> list[TableFile]:
    """Return the files that match the pattern of a mapping, else the only file.

    Raises MappingError.
    """
    if not mapping.file:
        if len(files) > 1:
            raise MappingError(
                "there are several files: each table needs `file`, a name or a pattern"
            )
        return list(files)
    matching = [file for file in files if file.name == mapping.file]  # a name may have brackets
    matching = matching or [f for f in files if fnmatch.fnmatchcase(f.name, mapping.file)]
    if not matching:
        listed = ", ".join(file.name for file in files)
        raise MappingError(f"no file is called {mapping.file}: {listed}")
    return matching


def _is_markup_or_binary(path: Path) -> bool:
    """Return whether a file begins as markup, a notebook or a PDF, or is binary."""
    try:
        with opened(path) as file:
            start = file.read(_START)
    except UNREADABLE:
        return True
    begins = start.removeprefix(codecs.BOM_UTF8).lstrip()
    return _is_zip(path) or b"\0" in start or begins.startswith((b"<", b"{", b"%PDF", b"\x80"))


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _text(file: TableFile, settings: TableMapping) -> Table:
    delimiter = settings.delimiter or ("\t" if file.ending == ".tsv" else "")
    text = text_files.text_format(
        file.path, encoding=settings.encoding, delimiter=delimiter, quote=settings.quote
    )
    records: Callable[[], Iterator[Record]] = partial(text_files.records, file.path, text)
    return grid_table(
        file.name,
        "",
        records,
        header=settings.header,
        until=settings.until,
        location_of=None,
        notes=text.notes,
    )


def _sheets(file: TableFile, settings: TableMapping) -> list[Table]:
    from annotation.formats.tables import xlsx  # noqa: PLC0415 - openpyxl takes 0.2 s to import

    worksheets = xlsx.worksheets(file.path)
    hidden = [worksheet.name for worksheet in worksheets if worksheet.is_hidden]
    selected = [
        worksheet
        for worksheet in worksheets
        if worksheet.name == settings.sheet
        or (not settings.sheet and not worksheet.is_hidden and worksheet.n_rows)
    ]
    if not selected and settings.sheet:
        selected = [worksheet for worksheet in worksheets if worksheet.n_rows]
    if not selected:
        raise TableError("has no worksheet with a table")
    notes = (
        [f"hidden sheets, not read: {', '.join(hidden)}"] if hidden and not settings.sheet else []
    )
    tables, problems = [], []
    for worksheet in selected:
        try:
            tables.append(_worksheet_table(file, worksheet, settings, notes))
        except TableError as error:
            problems.append((worksheet.name, error))
    if not tables:
        name, first = problems[0]
        raise TableError(str(first), first.location or f": {name}") from first
    skipped = tuple(f"sheet {name}, not read: {problem}" for name, problem in problems)
    return [replace(table, notes=(*table.notes, *skipped)) for table in tables]


def _worksheet_table(
    file: TableFile, worksheet: xlsx.Worksheet, settings: TableMapping, notes: Sequence[str]
) -> Table:
    return grid_table(
        file.name,
        worksheet.name,
        worksheet.records,
        header=settings.header,
        until=settings.until,
        location_of=worksheet.location,
        notes=notes,
    )


def _parquet(file: TableFile) -> Table:
    try:
        from pyarrow import parquet as pq  # noqa: PLC0415 - of the extra cluster
    except ModuleNotFoundError as error:
        raise TableError("needs pyarrow, an extra: make env EXTRAS=cluster") from error

    def rows() -> Iterator[Row]:
        number = 0
        try:
            with pq.ParquetFile(file.path) as table:
                for batch in table.iter_batches(batch_size=_AT_ONCE):
                    for row in batch.to_pylist():
                        number += 1
                        yield number, json_files.flattened(row)
        except (OSError, ValueError) as error:  # pyarrow's errors are among them
            message = f"cannot be read: {' '.join(str(error).split())}"
            raise TableError(message, f":{number}" if number else "") from error

    return Table(file.name, "", json_files.headers_of(rows()), rows, line_location)
