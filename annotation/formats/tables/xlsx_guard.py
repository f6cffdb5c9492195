"""Checks of a workbook (.xlsx) before it is read: its size, its structure, and no DTD.

The parts are unpacked in chunks and parsed by expat without a tree. Counts and sizes that the file
states are not trusted. `xlsx.py` then reads only what was counted here.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeVar
from xml.parsers import expat

from annotation.formats.tables.cells import TableError

MAX_UNPACKED = 2_000_000_000  # bytes, all parts together
MAX_RATIO = 100  # unpacked bytes per packed byte, beyond RATIO_FROM
RATIO_FROM = 50_000_000
MAX_PARTS = 10_000
MAX_SHEETS = 100
MAX_ROWS = 1_048_576
MAX_COLUMNS = 2_000
MAX_CELLS = 20_000_000  # of a sheet, with those that only have a format
MAX_AREA = 200_000_000  # rows of the file, times columns: the places that are looked at
MAX_CELL = 16 * 2**20  # characters
MAX_ROW = 64 * 2**20  # characters; the tree of a row is in memory
MAX_MERGED_RANGES = 200_000
MAX_MERGED_CELLS = 1_000_000
MAX_FORMULAS = 200_000  # formulas without a stored value, whose places are kept
MAX_STRINGS = 4_000_000
MAX_STRING_BYTES = 512 * 2**20
# A part that is read as a tree, a row, and what stands before the first row.
MAX_TREE_BYTES = 16 * 2**20
MAX_ELEMENTS = 500_000
MAX_DEPTH = 64
MAX_TOKEN = 2**20  # bytes of one tag or comment, which expat keeps in memory

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
CONTENT_TYPES = "[Content_Types].xml"
REPAIR = "open it in a spreadsheet program and save it again"

_CHUNK = 2**16
_MAX_FORMULA = 100  # characters that are kept for a message
_MAX_NUMBER = 30  # characters of a value that are looked at
_XML_SUFFIXES = (".xml", ".rels", ".vml")
_ADDRESS = re.compile(r"([A-Za-z]{1,3})([1-9][0-9]{0,6})")
_RANGE = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")
_LAST_COLUMN = 16_384
# `_x000D_` stands for the character of that number: ECMA-376, part 1, 22.9.2.19 (ST_Xstring).
_ESCAPE = re.compile(
    r"_x(?P<high>[Dd][89ABab][0-9A-Fa-f]{2})__x(?P<low>[Dd][C-Fc-f][0-9A-Fa-f]{2})_"
    r"|_x(?P<code>[0-9A-Fa-f]{4})_"
)

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column; rows and columns from 1."""


def refusal(message: str, address: str = "") -> TableError:
    """Return an error about a sheet, a row or a cell, such as `Ratings!E3`."""
    return TableError(message, f": {address}" if address else "")


def damaged(detail: str, address: str = "") -> TableError:
    """Return the error for a workbook that no spreadsheet program would have written."""
    return refusal(f"is damaged ({detail}): {REPAIR}", address)


def exceeds(limit: str, remedy: str, address: str = "") -> TableError:
    """Return the error for a workbook that is too large."""
    return refusal(f"has more than {limit}: {remedy}", address)


class LiteralText(str):
    """Decoded text in which something like `_x000D_` is literal: it is not decoded again."""

    __slots__ = ()


def decode_escapes(text: str) -> str:
    """Decode `_x000D_` and the like; what no database can store stays as it is."""
    if "_x" not in text:
        return text
    decoded = _ESCAPE.sub(_decode_escape, text)
    return LiteralText(decoded) if _ESCAPE.search(decoded) else decoded


def _decode_escape(match: re.Match[str]) -> str:
    if match["high"]:
        pair = bytes.fromhex(match["high"] + match["low"])
        return pair.decode("utf-16-be")
    code = int(match["code"], 16)
    return match[0] if code == 0 or 0xD800 <= code < 0xE000 else chr(code)


@dataclass
class SheetScan:
    """Counts of a worksheet, and what a streaming reader does not tell."""

    n_rows: int = 0  # farthest row with a value
    n_columns: int = 0
    n_cells: int = 0
    n_read_rows: int = 0  # rows of the file up to the farthest with a value
    merged: list[Range] = field(default_factory=list)  # within the used rectangle, by row
    formulas: dict[tuple[int, int], str] = field(default_factory=dict)  # without a stored value
    zeros: dict[tuple[int, int], str] = field(default_factory=dict)  # formulas whose value is 0
    has_results: bool = False  # a formula whose stored value is not 0


class PartReader:
    """Reader of the parts of a zip archive, which counts the bytes that it unpacks."""

    def __init__(self, archive: zipfile.ZipFile, packed_size: int) -> None:
        self._archive = archive
        self._packed_size = packed_size
        self._n_bytes = 0
        self._names: set[str] = set()
        entries = archive.infolist()
        if len(entries) > MAX_PARTS:
            raise exceeds(f"{MAX_PARTS:,} parts", "save it as CSV")
        for entry in entries:
            name = entry.filename
            if entry.flag_bits & 0x1:
                raise TableError("is protected by a password: save it without")
            path = PurePosixPath(name.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts:
                raise damaged("it holds a part whose name leads out of the archive")
            if name in self._names:
                raise damaged("it holds two parts of one name")
            self._names.add(name)
        self._unread = {entry.filename for entry in entries if not entry.is_dir()}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def chunks(self, name: str) -> Iterator[bytes]:
        """Unpack a part, and refuse it as soon as all parts together are too large."""
        if name not in self._names:
            raise damaged(f"the part {name[:100]} is missing")
        self._unread.discard(name)
        with self._archive.open(name) as source:
            while chunk := source.read(_CHUNK):
                self._count(len(chunk))
                yield chunk

    def _count(self, n_bytes: int) -> None:
        self._n_bytes += n_bytes
        if self._n_bytes > MAX_UNPACKED:
            raise exceeds(f"{MAX_UNPACKED // 1_000_000:,} MB when unpacked", "split it, or use CSV")
        if self._n_bytes > RATIO_FROM and self._n_bytes > MAX_RATIO * self._packed_size:
            raise TableError(f"unpacks to more than {MAX_RATIO} times its size: save it as CSV")

    def check_tree(self, name: str) -> XmlSummary:
        """Check a part that is read as a tree."""
        return self._read_small(name, _TreeParser()).summary

    def read_styles(self, name: str) -> list[tuple[int, str | None]]:
        """List the number formats of the styles of cells: number, and text if the file has it."""
        return self._read_small(name, _StyleParser()).formats()

    def _read_small(self, name: str, parser: _Small) -> _Small:
        n_bytes = 0
        for chunk in self.chunks(name):
            n_bytes += len(chunk)
            if n_bytes > MAX_TREE_BYTES:
                limit = f"{MAX_TREE_BYTES // 2**20} MB in {name[:100]}"
                raise exceeds(limit, "copy the values into a new workbook")
            parser.feed(chunk)
        parser.close()
        return parser

    def read_strings(self, name: str) -> list[str]:
        """Read the table of strings that the cells share."""
        parser = _StringParser()
        n_bytes = 0
        for chunk in self.chunks(name):
            n_bytes += len(chunk)
            if n_bytes > MAX_STRING_BYTES:
                raise exceeds(f"{MAX_STRING_BYTES // 2**20} MB of text", "save it as CSV")
            parser.feed(chunk)
        parser.close()
        return parser.strings

    def scan_sheet(self, name: str, title: str, n_strings: int, *, keep_zeros: bool) -> SheetScan:
        """Count the cells of a worksheet; `title` is its name in messages."""
        parser = _SheetParser(title, n_strings, keep_zeros=keep_zeros)
        for chunk in self.chunks(name):
            parser.feed(chunk)
        parser.close()
        return parser.summarize()

    def check_others(self) -> None:
        """Unpack all parts that nobody reads, for their size, and refuse a DTD in them."""
        for name in sorted(self._unread):
            parser: _PrologParser | None = None
            if name.lower().endswith(_XML_SUFFIXES):
                parser = _PrologParser()
            for chunk in self.chunks(name):
                if parser and not parser.is_done:
                    parser.feed(chunk)


@dataclass
class XmlSummary:
    """Facts about a part that decide how the workbook is read."""

    is_strict: bool = False
    is_recalculated: bool = False  # the program that opens it calculates all formulas


class _Parser:
    """Expat parser without a tree, which refuses a DTD and tags of any length."""

    title = ""  # of the sheet, for messages

    def __init__(self) -> None:
        self._n_fed = 0
        self._expat = expat.ParserCreate(namespace_separator=" ")
        self._expat.buffer_text = True
        self._expat.buffer_size = _CHUNK
        self._expat.StartDoctypeDeclHandler = self._refuse_dtd
        self._expat.EntityDeclHandler = self._refuse_dtd

    def _refuse_dtd(self, *_: object) -> None:
        raise TableError(f"declares XML entities, which are not read: {REPAIR}")

    def feed(self, chunk: bytes) -> None:
        """Parse the next bytes of the part."""
        self._n_fed += len(chunk)
        self._parse(chunk, False)
        if self._n_fed - max(self._expat.CurrentByteIndex, 0) > MAX_TOKEN:
            raise damaged("a tag is too long", self.title)

    def close(self) -> None:
        """Finish; the part must end here."""
        self._parse(b"", True)

    def _parse(self, chunk: bytes, is_final: bool) -> None:
        try:
            self._expat.Parse(chunk, is_final)
        except expat.ExpatError as error:
            raise damaged(f"XML: {error}", self.title) from None
        except TableError:
            raise
        except (LookupError, ValueError):
            raise damaged("an encoding that is not known", self.title) from None


class _PrologParser(_Parser):
    """Parser that looks for a DTD, which can only stand before the first tag."""

    def __init__(self) -> None:
        super().__init__()
        self.is_done = False
        self._expat.StartElementHandler = self._end_prolog

    def _end_prolog(self, *_: object) -> None:
        self.is_done = True

    def feed(self, chunk: bytes) -> None:
        self._n_fed += len(chunk)
        try:
            self._expat.Parse(chunk, False)
        except TableError:
            raise
        except (expat.ExpatError, LookupError, ValueError):
            self.is_done = True  # nobody reads the part: it need not be well-formed
        self.is_done = self.is_done or self._n_fed > MAX_TOKEN


class _TreeParser(_Parser):
    """Parser of a part that is read as a tree: counts elements."""

    def __init__(self) -> None:
        super().__init__()
        self.summary = XmlSummary()
        self._n_elements = self._depth = 0
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._n_elements += 1
        self._depth += 1
        if self._n_elements > MAX_ELEMENTS or self._depth > MAX_DEPTH:
            raise exceeds(f"{MAX_ELEMENTS:,} elements", "copy the values into a new workbook")
        if self._depth == 1 and name == f"{STRICT} workbook":
            self.summary.is_strict = True
        elif self._depth == 2 and name == f"{MAIN} calcPr":
            self.summary.is_recalculated = attributes.get("fullCalcOnLoad") in ("1", "true")

    def _end(self, _name: str) -> None:
        self._depth -= 1


class _StyleParser(_TreeParser):
    """Parser of the styles, for number formats alone: openpyxl refuses many fills and fonts."""

    def __init__(self) -> None:
        super().__init__()
        self._list = ""  # the child of the root
        self._codes: dict[int, str] = {}
        self._ids: list[int] = []

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        super()._start(name, attributes)
        if self._depth == 2:
            self._list = name
        elif self._depth == 3 and name == _NUMBER_FORMAT and self._list == f"{name}s":
            number = _parse_format_id(attributes.get("numFmtId", ""))
            self._codes[number] = attributes.get("formatCode", "")
        elif self._depth == 3 and name == _XF and self._list == _CELL_XFS:
            self._ids.append(_parse_format_id(attributes.get("numFmtId", "0")))

    def formats(self) -> list[tuple[int, str | None]]:
        """Return number and text of the format of each style."""
        return [(number, self._codes.get(number)) for number in self._ids]


_Small = TypeVar("_Small", bound=_TreeParser)


class _StringParser(_Parser):
    """Parser of the table of shared strings."""

    def __init__(self) -> None:
        super().__init__()
        self.strings: list[str] = []
        self._pieces: list[str] = []
        self._n_characters = 0
        self._is_text = self._is_phonetic = False
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._add_text

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        if name == _T:
            self._is_text = not self._is_phonetic
        elif name == _SI:
            self._pieces = []
            self._n_characters = 0
        elif name == _RPH:
            self._is_phonetic = True

    def _end(self, name: str) -> None:
        if name == _T:
            self._is_text = False
        elif name == _SI:
            if len(self.strings) >= MAX_STRINGS:
                raise exceeds(f"{MAX_STRINGS:,} different texts", "save it as CSV")
            self.strings.append(decode_escapes("".join(self._pieces)))
        elif name == _RPH:
            self._is_phonetic = False

    def _add_text(self, text: str) -> None:
        if self._is_text:
            self._n_characters += len(text)
            if self._n_characters > MAX_CELL:
                raise exceeds(f"{MAX_CELL // 2**20} MB in a cell", "shorten the text")
            self._pieces.append(text)


_NUMBER_FORMAT, _XF, _CELL_XFS = (f"{MAIN} {name}" for name in ("numFmt", "xf", "cellXfs"))
_SI, _T, _RPH = (f"{MAIN} {name}" for name in ("si", "t", "rPh"))
_WORKSHEET, _DATA, _ROW, _VALUE, _FORMULA, _INLINE, _MERGE = (
    f"{MAIN} {name}" for name in ("worksheet", "sheetData", "row", "v", "f", "is", "mergeCell")
)


class _SheetParser(_Parser):
    """Parser of a worksheet. Every child of a row counts as a cell, as openpyxl takes it."""

    def __init__(self, title: str, n_strings: int, *, keep_zeros: bool) -> None:
        super().__init__()
        self.title = title
        self._n_strings = n_strings
        self._keep_zeros = keep_zeros
        self._scan = SheetScan()
        self._merged: list[tuple[Range, str]] = []
        self._shared: dict[str, str] = {}  # formulas that several cells share
        self._depth = self._n_elements = self._n_characters = 0
        self._in_data = self._in_row = self._has_data = False
        self._row = self._column = self._n_row_elements = 0
        self._is_filled = False  # the row has a value
        self._type = self._text = self._formula = ""
        self._formula_id: str | None = None
        self._has_formula = self._has_value = False
        self._keep_text: Callable[[str], None] | None = None
        self._n_value = self._n_inline = 0
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._add_text

    def summarize(self) -> SheetScan:
        """Return the counts, with the merged ranges within the used rectangle."""
        if not self._has_data:
            raise damaged("it has no data", self.title)
        scan = self._scan
        if scan.n_read_rows * scan.n_columns > MAX_AREA:
            limit = f"{MAX_AREA:,} places in its rows and columns"
            raise exceeds(limit, "delete the columns that are far to the right", self.title)
        scan.merged = self._clip_merged()
        return scan

    # Elements

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        depth = self._depth
        self._n_elements += 1
        if self._n_elements > MAX_ELEMENTS or depth > MAX_DEPTH:
            self._refuse_elements()
        if self._in_row:
            if depth == 5:
                self._start_content(name, attributes)
            elif depth == 4:
                self._start_cell(attributes)
        elif name == _ROW:
            self._start_row(attributes)
        elif name == _MERGE:
            self._add_merged(attributes.get("ref", ""))
        elif depth == 1:
            if name != _WORKSHEET:
                raise damaged("a sheet is no worksheet", self.title)
        elif depth == 2 and name == _DATA:
            if self._has_data:
                raise damaged("it has its data twice", self.title)
            self._in_data = self._has_data = True

    def _refuse_elements(self) -> None:
        # What follows the last row is never made into a tree.
        if self._depth > MAX_DEPTH or self._in_data or not self._has_data:
            limit = f"{MAX_ELEMENTS:,} elements in a row or before the first"
            raise exceeds(limit, "copy the values into a new workbook", self.title)

    def _end(self, name: str) -> None:
        depth = self._depth
        self._depth -= 1
        if self._in_row:
            if depth == 5:
                self._keep_text = None
            elif depth == 4:
                self._end_cell()
            elif depth == 3:
                self._in_row = False
                self._n_elements = 0
                if self._is_filled:
                    self._scan.n_read_rows = self._n_row_elements
        elif depth == 2 and name == _DATA:
            self._in_data = False

    def _add_text(self, text: str) -> None:
        if not self._in_row:
            return
        self._n_characters += len(text)
        if self._n_characters > MAX_ROW:
            limit = f"{MAX_ROW // 2**20} MB in a row"
            raise exceeds(limit, "shorten the texts", f"{self.title}!{self._row}")
        if self._keep_text:
            self._keep_text(text)

    # Rows and cells

    def _start_row(self, attributes: dict[str, str]) -> None:
        if self._depth != 3 or not self._in_data:
            raise damaged("a row stands outside of the data", self.title)
        row_number = attributes.get("r")
        number = self._row + 1
        if row_number is not None:
            number = _parse_row_number(row_number, self.title)
        if number <= self._row:
            raise damaged(f"row {number} is not in its order", self.title)
        if number > MAX_ROWS:
            raise exceeds(f"{MAX_ROWS:,} rows", "split it", self.title)
        self._row, self._column = number, 0
        self._in_row, self._is_filled = True, False
        self._n_row_elements += 1
        self._n_characters = 0

    def _start_cell(self, attributes: dict[str, str]) -> None:
        scan = self._scan
        scan.n_cells += 1
        if scan.n_cells > MAX_CELLS:
            raise exceeds(f"{MAX_CELLS:,} cells", "split it, or save it as CSV", self.title)
        column = self._column + 1
        if address := attributes.get("r"):
            match = _ADDRESS.fullmatch(address)
            if match is None or int(match[2]) != self._row:
                raise damaged(f"{address[:20]!r} is no cell of row {self._row}", self.title)
            column = column_number(match[1])
            if column <= self._column:
                raise damaged("cells are not in their order", f"{self.title}!{address}")
        if column > _LAST_COLUMN:
            raise damaged(f"row {self._row} is longer than any sheet", self.title)
        self._column = column
        self._type = attributes.get("t", "n")
        self._text = self._formula = ""
        self._formula_id = None
        self._has_formula = self._has_value = False
        self._n_value = self._n_inline = 0

    def _start_content(self, name: str, attributes: dict[str, str]) -> None:
        if name == _VALUE:
            if self._has_value:
                raise damaged("a cell has two values", self._address())
            self._has_value = True
            self._keep_text = self._add_value
        elif name == _FORMULA:
            self._has_formula = True
            if attributes.get("t") == "shared":
                self._formula_id = attributes.get("si")
            self._keep_text = self._add_formula
        elif name == _INLINE:
            self._keep_text = self._add_inline

    def _add_value(self, text: str) -> None:
        self._text = (self._text + text)[:_MAX_NUMBER]
        self._n_value += len(text)
        self._check_length(self._n_value)

    def _add_formula(self, text: str) -> None:
        self._formula = (self._formula + text)[:_MAX_FORMULA]

    def _add_inline(self, text: str) -> None:
        self._n_inline += len(text)
        self._check_length(self._n_inline)

    def _check_length(self, n_characters: int) -> None:
        if n_characters > MAX_CELL:
            raise exceeds(f"{MAX_CELL // 2**20} MB in a cell", "shorten the text", self._address())

    def _end_cell(self) -> None:
        self._keep_text = None
        text = self._text
        is_filled = bool(self._n_inline) if self._type == "inlineStr" else bool(text)
        if self._type == "s" and text and not self._is_string_number(text):
            raise damaged(f"there is no text {text[:20]!r}", self._address())
        if self._has_formula:
            is_filled = self._end_formula(is_filled)
        if not is_filled:
            return
        if self._column > MAX_COLUMNS:
            remedy = "delete the columns that are far to the right"
            raise exceeds(f"{MAX_COLUMNS:,} columns", remedy, self._address())
        self._is_filled = True
        self._scan.n_rows = self._row
        self._scan.n_columns = max(self._scan.n_columns, self._column)

    def _is_string_number(self, text: str) -> bool:
        # openpyxl would count a negative number from the end.
        return (
            text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < self._n_strings
        )

    def _end_formula(self, is_filled: bool) -> bool:
        """Keep a formula without a stored value; return True if the cell is not empty."""
        formula = self._formula
        if self._formula_id is not None:
            if formula:
                self._shared.setdefault(self._formula_id, formula)
            # Only the first cell of a shared formula has its text; the others show that text.
            formula = formula or self._shared.get(self._formula_id, "")
        target: dict[tuple[int, int], str] | None = None
        if not is_filled:
            # The empty text is a value: `<v></v>` of a formula such as =IF(A1="", "", 1).
            if self._type == "str" and self._has_value:
                self._note_result()
                return False
            target = self._scan.formulas
        elif self._text != "0":
            self._note_result()
        elif self._keep_zeros and not self._scan.has_results:
            target = self._scan.zeros
        if target is not None:
            if len(target) >= MAX_FORMULAS:
                raise exceeds(f"{MAX_FORMULAS:,} formulas without a value", REPAIR, self.title)
            target[self._row, self._column] = f"={formula}"
        return True

    def _note_result(self) -> None:
        self._scan.has_results = True
        self._scan.zeros.clear()

    def _address(self) -> str:
        return f"{self.title}!{column_letters(self._column)}{self._row}"

    # Merged ranges

    def _add_merged(self, reference: str) -> None:
        if len(self._merged) >= MAX_MERGED_RANGES:
            raise exceeds(f"{MAX_MERGED_RANGES:,} merged ranges", "split them", self.title)
        corners = [_RANGE.fullmatch(corner) for corner in reference.split(":")]
        if len(corners) not in (1, 2) or None in corners:
            raise damaged(f"{reference[:40]!r} is no range of cells", self.title)
        addresses = [(int(corner[2]), column_number(corner[1])) for corner in corners if corner]
        (first_row, first_column), (last_row, last_column) = addresses[0], addresses[-1]
        if first_row > last_row or first_column > last_column:
            raise damaged(f"{reference[:40]!r} is no range of cells", self.title)
        self._merged.append(((first_row, first_column, last_row, last_column), reference))

    def _clip_merged(self) -> list[Range]:
        """Cut the merged ranges to the used rectangle; refuse ranges that overlap."""
        n_rows, n_columns = self._scan.n_rows, self._scan.n_columns
        clipped: list[Range] = []
        n_cells = 0
        last_rows = [0] * (n_columns + 1)  # of the ranges so far, by column
        for (top, first, bottom, last), reference in sorted(self._merged):
            if top > n_rows or first > n_columns:
                continue
            bottom, last = min(bottom, n_rows), min(last, n_columns)
            n_cells += (bottom - top + 1) * (last - first + 1)
            if n_cells > MAX_MERGED_CELLS:
                raise exceeds(f"{MAX_MERGED_CELLS:,} merged cells", "split them", self.title)
            for column in range(first, last + 1):
                if last_rows[column] >= top:
                    detail = "merged ranges overlap"
                    raise damaged(detail, f"{self.title}!{reference}")
                last_rows[column] = bottom
            clipped.append((top, first, bottom, last))
        return clipped


def check_totals(scans: Sequence[SheetScan]) -> None:
    """Check the limits that count for all sheets together: they hold what is kept in memory."""
    if sum(len(scan.formulas) + len(scan.zeros) for scan in scans) > MAX_FORMULAS:
        raise exceeds(f"{MAX_FORMULAS:,} formulas without a value", REPAIR)
    if sum(len(scan.merged) for scan in scans) > MAX_MERGED_RANGES:
        raise exceeds(f"{MAX_MERGED_RANGES:,} merged ranges", "split them")


def _parse_row_number(text: str, title: str) -> int:
    """Parse a row number; some programs write 3 as 3.0."""
    match = re.fullmatch(r"([0-9]{1,9})(?:\.0+)?", text)
    if match is None or int(match[1]) < 1:
        raise damaged(f"{text[:20]!r} is no row", title)
    return int(match[1])


def _parse_format_id(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise damaged(f"{text[:20]!r} is no number format")
    return int(text)


def column_number(column: str) -> int:
    """Return the number of a column, from 1: A is 1, AA is 27."""
    number = 0
    for letter in column.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def column_letters(number: int) -> str:
    """Return the letters of a column from its number, from 1."""
    column = ""
    while number > 0:
        number, index = divmod(number - 1, 26)
        column = chr(ord("A") + index) + column
    return column
