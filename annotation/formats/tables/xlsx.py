"""Spreadsheets (.xlsx, .xlsm) as rows of cells. The only module that imports openpyxl.

`xlsx_guard` checks each part before openpyxl reads it. openpyxl then reads the rectangle that was
counted, and never the one that the sheet claims.
"""

from __future__ import annotations

import lzma
import struct
import warnings
import weakref
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

from openpyxl.cell.read_only import EMPTY_CELL, ReadOnlyCell
from openpyxl.packaging.relationship import get_rels_path
from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import builtin_format_code, is_date_format, is_timedelta_format
from openpyxl.worksheet._read_only import ReadOnlyWorksheet
from openpyxl.xml.constants import SHARED_STRINGS, XLSM, XLSX, XLTM, XLTX

from annotation.formats.records import whole_number
from annotation.formats.tables import xlsx_guard as guard
from annotation.formats.tables.cells import (
    BrokenCell,
    Cell,
    CellProblem,
    FormattedNumber,
    TableError,
)
from annotation.formats.tables.number_formats import (
    EAST_ASIAN_DATES,
    display_number,
    is_date_only,
)

# What openpyxl warns of is not read (styles, extensions), or told as a cell (dates out of range).
warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_WORKBOOK = "xl/workbook.xml"
_STYLES = "xl/styles.xml"
_STRINGS = "xl/sharedStrings.xml"
_SAVE_AS = "save it as .xlsx or CSV"
_OTHER_SHEETS = ("chartsheet", "dialogsheet", "xlMacrosheet", "xlIntlMacrosheet")
_GENERAL = "General"
_EAST_ASIAN_DATE = "m/d"  # which of them it is makes no difference here
_MAX_NAME = 255  # of a sheet; spreadsheet programs allow 31
_MAX_DETAIL = 200
_SCAN_BYTES = 2**20
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(NotImplementedError, OSError),
)


@dataclass(frozen=True)
class Worksheet:
    """Worksheet of a workbook; rows and columns are those of the rectangle with values."""

    name: str
    is_hidden: bool
    n_rows: int
    n_columns: int
    _workbook: _Workbook = field(repr=False, compare=False)
    _part: str = field(repr=False, compare=False)
    _scan: guard.SheetScan = field(repr=False, compare=False)

    def records(self) -> Iterator[tuple[int, list[Cell]]]:
        """Read the rows that have a value: number from 1, cells from column A.

        The value of a merged cell is the value of each cell of its range.
        """
        if not self.n_rows:
            return
        merged = _MergedCells(self._scan.merged)
        with _table_errors(self.name):
            rows = self._workbook.read_rows(self._part, self.n_rows, self.n_columns)
            gap: object = None  # openpyxl yields one and the same tuple for all missing rows
            for row, source in enumerate(rows, start=1):
                is_gap = source is gap
                if not is_gap or merged.has_row(row):
                    cells: list[Cell] = [None] * self.n_columns
                    if not is_gap and not self._read_cells(row, source, cells):
                        gap = source
                    merged.fill(row, cells)
                    if any(cell is not None for cell in cells):
                        yield row, cells
                if row == self.n_rows:  # what follows the rows is not parsed
                    return

    def _read_cells(self, row: int, source: Iterable[ReadOnlyCell], cells: list[Cell]) -> bool:
        """Convert the cells of a row; return False if the file has none."""
        formulas = self._scan.formulas
        has_cells = False
        for column, cell in enumerate(source):
            if cell is EMPTY_CELL:
                continue
            has_cells = True
            if formulas and (row, column + 1) in formulas:
                formula = formulas[row, column + 1]
                cells[column] = BrokenCell(CellProblem.FORMULA, formula)
            else:
                cells[column] = self._workbook.convert(cell)
        return has_cells

    def location(self, row: int, column: int) -> str:
        """Return the address of a cell, such as `Ratings!E3`; the column counts from 0."""
        return f"{self.name}!{guard.column_letters(column + 1)}{row}"


def worksheets(path: Path) -> list[Worksheet]:
    """List the worksheets of a workbook in the order of the file.

    Raises TableError, with a sentence, for a file that cannot be read or is too large. The file
    stays open until the last of its sheets is gone.
    """
    file = path.open("rb")
    try:
        _check_magic(file)
        with _table_errors():
            return _Workbook(file, path.stat().st_size).worksheets()
    except BaseException:
        file.close()
        raise


class _Workbook:
    """Open workbook: its parts, shared strings and styles."""

    def __init__(self, file: BinaryIO, packed_size: int) -> None:
        weakref.finalize(self, file.close)
        self._reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        self._parts = guard.PartReader(self._reader.archive, packed_size)
        self._strings: list[str] = []
        self._formats: list[str] = []  # of each style of cells

    def read_rows(
        self, part: str, n_rows: int, n_columns: int
    ) -> Iterator[tuple[ReadOnlyCell, ...]]:
        """Stream the rows of a worksheet, each as wide as the rectangle."""
        worksheet: Any = _Worksheet(self._reader.wb, part, part, self._strings)
        return worksheet.iter_rows(min_row=1, max_row=n_rows, max_col=n_columns)

    def convert(self, cell: Any) -> Cell:
        """Return the value of a cell under its number format."""
        style: int = cell._style_id
        number_format = self._formats[style] if 0 <= style < len(self._formats) else _GENERAL
        return _convert_cell(cell.value, cell.data_type, number_format)

    def worksheets(self) -> list[Worksheet]:
        """Check all parts of the workbook, and list its worksheets."""
        is_recalculated = self._read_workbook()
        worksheets = self._list_worksheets()
        self._strings = self._read_strings()
        scans: list[guard.SheetScan] = []
        has_results = False
        for name, part, _ in worksheets:
            keep_zeros = is_recalculated and not has_results
            scan = self._parts.scan_sheet(part, name, len(self._strings), keep_zeros=keep_zeros)
            scans.append(scan)
            has_results = has_results or scan.has_results
            guard.check_totals(scans)
        self._parts.check_others()
        for scan in scans:
            if not has_results:
                # XlsxWriter stores 0 for formulas and asks for a calculation, which nobody did yet.
                scan.formulas.update(scan.zeros)
            scan.zeros.clear()
        return [
            Worksheet(name, is_hidden, scan.n_rows, scan.n_columns, self, part, scan)
            for (name, part, is_hidden), scan in zip(worksheets, scans, strict=True)
        ]

    def _read_workbook(self) -> bool:
        """Read the parts that are no sheets; return True if formulas wait for a calculation."""
        reader, parts = self._reader, self._parts
        if "xl/workbook.bin" in parts:
            raise TableError(f"is an .xlsb file: {_SAVE_AS}")
        if "mimetype" in parts or "content.xml" in parts:
            raise TableError(f"is an OpenDocument file (.ods): {_SAVE_AS}")
        if guard.CONTENT_TYPES not in parts:
            raise TableError(f"is a zip archive without a workbook: {_SAVE_AS}")
        parts.check_tree(guard.CONTENT_TYPES)
        reader.read_manifest()
        overrides = [reader.package.find(kind) for kind in (XLTM, XLTX, XLSM, XLSX)]
        names = {override.PartName[1:] for override in overrides if override} or {_WORKBOOK}
        if not any(name in parts for name in names):
            raise TableError(f"holds no workbook: {_SAVE_AS}")
        is_recalculated = False
        for name in names:
            summary = parts.check_tree(name)
            if summary.is_strict:
                raise TableError('is a "Strict Open XML" file: save it as "Excel Workbook (.xlsx)"')
            is_recalculated = is_recalculated or summary.is_recalculated
            parts.check_tree(get_rels_path(name))
        reader.read_workbook()
        if _STYLES in parts:
            self._read_styles()
        return is_recalculated

    def _read_styles(self) -> None:
        """Read the number formats, and tell openpyxl which styles are those of dates."""
        self._formats = [
            (
                _EAST_ASIAN_DATE
                if number in EAST_ASIAN_DATES
                else builtin_format_code(number) or _GENERAL
            )
            if code is None
            else code
            for number, code in self._parts.read_styles(_STYLES)
        ]
        workbook: Any = self._reader.wb
        workbook._date_formats = {i for i, f in enumerate(self._formats) if is_date_format(f)}
        workbook._timedelta_formats = {
            i for i, f in enumerate(self._formats) if is_timedelta_format(f)
        }

    def _list_worksheets(self) -> list[tuple[str, str, bool]]:
        """List name, part and whether it is hidden; sheets of charts or macros are left out."""
        worksheets: list[tuple[str, str, bool]] = []
        parser = self._reader.parser
        if not all(entry.id for entry in parser.sheets):  # openpyxl would leave them out
            raise guard.damaged("a sheet of it is in no part")
        for entry, relation in parser.find_sheets():
            kind = relation.Type.rpartition("/")[2]
            if kind in _OTHER_SHEETS:
                continue
            if kind != "worksheet":
                raise guard.damaged(f"a sheet of it is a {kind[:40]!r}")
            if len(entry.name) > _MAX_NAME or relation.TargetMode == "External":
                raise guard.damaged("a sheet of it is in no part")
            worksheets.append((entry.name, relation.target, entry.state != "visible"))
        if not worksheets:
            raise TableError("has no worksheet: choose another file")
        if len(worksheets) > guard.MAX_SHEETS:
            raise guard.exceeds(f"{guard.MAX_SHEETS} sheets", "split it")
        for position in (0, 1):
            if len({str(worksheet[position]).casefold() for worksheet in worksheets}) < len(
                worksheets
            ):
                raise guard.damaged("two of its sheets are the same")
        return worksheets

    def _read_strings(self) -> list[str]:
        override = self._reader.package.find(SHARED_STRINGS)
        name = override.PartName[1:] if override else _STRINGS
        if override is None and name not in self._parts:
            return []  # all texts are in their cells
        return self._parts.read_strings(name)


class _Worksheet(ReadOnlyWorksheet):
    """Worksheet whose stated size is not read: for a file without it, that parses all rows."""

    def _get_size(self) -> None:
        pass


class _MergedCells:
    """Merged ranges of a sheet, while its rows are read from the first to the last."""

    def __init__(self, ranges: list[guard.Range]) -> None:
        self._ranges = ranges
        self._position = 0  # of the first range that has not begun
        self._open: dict[int, tuple[int, Cell]] = {}  # last row and value, by column from 0

    def has_row(self, row: int) -> bool:
        """Return True if a range covers the row, or begins in it."""
        starts = self._position < len(self._ranges) and self._ranges[self._position][0] <= row
        return starts or bool(self._open)

    def fill(self, row: int, cells: list[Cell]) -> None:
        """Set the cells of a row that are within a range to the value of its first cell."""
        while self._position < len(self._ranges) and self._ranges[self._position][0] <= row:
            _, first, bottom, last = self._ranges[self._position]
            self._position += 1
            for column in range(first - 1, last):
                self._open[column] = (bottom, cells[first - 1])
        for column, (bottom, value) in list(self._open.items()):
            cells[column] = value
            if bottom == row:
                del self._open[column]


def _convert_cell(value: object, data_type: str, number_format: str) -> Cell:
    """Convert a value of openpyxl; the format decides about dates and the text of numbers."""
    if value is None:
        return None
    if data_type == "e":
        return BrokenCell(CellProblem.ERROR, str(value))
    if isinstance(value, str):
        if not isinstance(value, guard.LiteralText):
            value = guard.decode_escapes(value)
        return str(value) or None
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return _convert_number(value, number_format)
    if isinstance(value, timedelta):
        days = whole_number(value / timedelta(days=1))
        return FormattedNumber(days, _display_duration(value))
    if isinstance(value, datetime) and value.time() == time() and is_date_only(number_format):
        return value.date()
    if isinstance(value, (datetime, date, time)):
        return value
    raise guard.damaged("a value of a kind that is not known")


def _convert_number(value: float, number_format: str) -> Cell:
    if not isfinite(value):
        return BrokenCell(CellProblem.ERROR, "#NUM!")
    number: float = whole_number(value)
    displayed = display_number(number, number_format)
    return number if displayed in (None, str(number)) else FormattedNumber(number, displayed)


def _display_duration(duration: timedelta) -> str:
    """Return a duration as hours, minutes and seconds: 26:30:00."""
    seconds = round(abs(duration.total_seconds()))
    sign = "-" if duration < timedelta() else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _check_magic(file: BinaryIO) -> None:
    """Refuse a file that is no zip archive, and name its format where it is known."""
    magic = file.read(len(_OLE))
    file.seek(0)
    if magic.startswith(b"PK"):
        return
    if magic != _OLE:
        raise TableError("is no .xlsx file: if it is text, give it the name .csv or .tsv")
    names = [name.encode("utf-16-le") for name in ("EncryptedPackage", "Workbook", "Book")]
    is_encrypted, *is_old = _find_bytes(file, names)
    if is_encrypted:
        raise TableError("is protected by a password: save it without")
    kind = "an old Excel file (.xls)" if any(is_old) else "no spreadsheet"
    raise TableError(f"is {kind}: {_SAVE_AS}")


def _find_bytes(file: BinaryIO, needles: list[bytes]) -> list[bool]:
    """Return for each needle whether the file holds it."""
    matches = [False] * len(needles)
    overlap = max(len(needle) for needle in needles) - 1
    tail = b""
    while chunk := file.read(_SCAN_BYTES):
        window = tail + chunk
        matches = [
            match or needle in window for match, needle in zip(matches, needles, strict=True)
        ]
        tail = window[-overlap:]
    return matches


@contextmanager
def _table_errors(sheet: str = "") -> Iterator[None]:
    """Raise TableError for all that zipfile and openpyxl raise for a damaged file."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except _ARCHIVE_ERRORS as error:
        detail = _first_line(error)
        message = f"is damaged or not complete ({detail}): copy or download it again"
        raise guard.refusal(message, sheet) from error
    except Exception as error:  # openpyxl raises errors of any class
        raise guard.damaged(_first_line(error), sheet) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:_MAX_DETAIL] or type(error).__name__
