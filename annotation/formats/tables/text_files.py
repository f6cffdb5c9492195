"""CSV, TSV and other separated text: encoding, delimiter, records with their first line."""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.formats.content import opened
from annotation.formats.tables.cells import Cell, Record, SettingNeededError, TableError
from annotation.formats.tables.encodings import WINDOWS, detected_encoding

DELIMITERS = (",", ";", "\t", "|")
MAX_FIELD = 16 * 2**20  # characters
csv.field_size_limit(MAX_FIELD)  # of the process: the module has no limit for a single reader
SAMPLE_CHARACTERS = 1_000_000
SAMPLE_RECORDS = 200
_SEP_LINE = re.compile(r"\Asep=(.)\r?\n?", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\r|\n")  # other line separators belong to the cell
_RULE = re.compile(r":?-+:?")  # of the cells below the header of a table in Markdown
_CLOSED = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True)
class TextFormat:
    """Format of a text file. `skips_line` is True where its first line is `sep=X`.

    `quote` is "" where quotation marks are ordinary characters.
    """

    encoding: str
    delimiter: str
    quote: str = '"'
    skips_line: bool = False

    @property
    def notes(self) -> list[str]:
        """Assumptions about the file, for the summary."""
        return ["read as Windows-1252, as it is not UTF-8"] if self.encoding == WINDOWS else []


def text_format(
    path: Path, *, encoding: str = "", delimiter: str = "", quote: str = ""
) -> TextFormat:
    """Return the format of a file: as given, or detected. Raises TableError, OSError."""
    encoding = encoding or detected_encoding(path)
    with _opened(path, encoding) as file:
        try:
            sample = file.read(SAMPLE_CHARACTERS)
        except (UnicodeError, LookupError) as error:
            raise TableError(f"is not {encoding}: {error}") from error
    if "\x00" in sample:
        raise TableError("holds NUL characters: it is no text file")
    separator = _SEP_LINE.match(sample)
    if separator:
        delimiter = delimiter or separator[1]
        sample = sample[separator.end() :]
    delimiter = delimiter or _delimiter(sample, quote or '"')
    if not quote and not _is_unquoted(sample, delimiter):
        quote = '"'
    return TextFormat(encoding, delimiter, quote, skips_line=bool(separator))


def records(path: Path, text: TextFormat) -> Iterator[Record]:
    """Yield the records of a file with the line on which each begins. Raises TableError."""
    with _opened(path, text.encoding) as file:
        if text.skips_line:
            file.readline()
        offset = int(text.skips_line)
        reader = _reader(file, text.delimiter, text.quote)
        n_filled = 0
        while True:
            line = reader.line_num + 1 + offset
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                message = (
                    f"a cell has more than {MAX_FIELD:,} characters"
                    if "field larger" in str(error)
                    else f"quotation marks are not closed or not doubled ({error})"
                )
                raise TableError(message, f":{line}") from error
            except (UnicodeError, EOFError, zlib.error) as error:
                raise TableError(f"cannot be read: {error}", f":{line}") from error
            if "\x00" in "".join(fields):
                raise TableError("holds a NUL character", f":{line}")
            if text.delimiter == "|":
                fields = [field.strip() for field in fields]
            cells: list[Cell] = [*fields]
            if not any(field.strip() for field in fields):
                continue
            n_filled += 1
            if n_filled != 2 or text.delimiter != "|" or not _is_rule(fields):
                yield line, cells


def _is_rule(fields: Sequence[str]) -> bool:
    return all(map(_RULE.fullmatch, filter(None, fields)))


def _reader(file: Iterator[str], delimiter: str, quote: str) -> Any:
    if not quote:
        return csv.reader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.reader(file, delimiter=delimiter, quotechar=quote, strict=True)


def _is_unquoted(sample: str, delimiter: str) -> bool:
    """Return whether quotation marks in a file of tabs are words: "Yes" said the board.

    Google Sheets and Excel's clipboard write them so. All lines then have the same number of cells, and a
    cell begins with a mark that its end does not close.
    """
    if delimiter != "\t" or '"' not in sample:
        return False
    lines = [line.split(delimiter) for line in _LINE_END.split(sample) if line.strip()]
    if len(sample) >= SAMPLE_CHARACTERS:
        lines.pop()  # it may be cut
    is_open = any(
        cell.startswith('"') and not _CLOSED.fullmatch(cell) for line in lines for cell in line
    )
    return is_open and len({*map(len, lines)}) == 1


def _opened(path: Path, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(opened(path), encoding=encoding, newline="")


def _delimiter(sample: str, quote: str) -> str:
    """Return the delimiter that gives most records the same number of fields, 2 or more.

    Raises TableError where two fit equally well.
    """
    fits: dict[str, tuple[int, int]] = {}
    for delimiter in DELIMITERS:
        counts: Counter[int] = Counter()
        try:
            for number, fields in enumerate(
                _reader(io.StringIO(sample, newline=""), delimiter, quote)
            ):
                if number >= SAMPLE_RECORDS:
                    break
                if any(field.strip() for field in fields):
                    counts[len(fields)] += 1
        except csv.Error:
            pass  # the sample may end within quotes
        width, n = max(
            ((width, n) for width, n in counts.items() if width > 1),
            key=lambda item: item[1],
            default=(0, 0),
        )
        if width:
            fits[delimiter] = n, width
    if not fits:
        return ","
    best = max(n for n, _ in fits.values())
    tied = [delimiter for delimiter, (n, _) in fits.items() if n == best]
    if len(tied) > 1:
        # A header whose names hold no other sign decides.
        first = sample.splitlines()[0] if sample else ""
        in_header = [delimiter for delimiter in tied if delimiter in first]
        tied = in_header or tied
    if len(tied) > 1:
        names = " or ".join({"\t": "tab"}.get(sign, sign) for sign in tied)
        raise SettingNeededError(
            f"the cells may be separated by {names}: choose the delimiter", "delimiter", tied
        )
    return tied[0]
