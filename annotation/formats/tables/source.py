"""Tables: headers, rows as dictionaries, and the location of each cell for messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from annotation.formats.tables.cells import Cell, Record, TableError

Row = tuple[int, Mapping[str, Cell]]
"""Number of a row or line, from 1, and its cells by header; absent cells are empty."""

HEADER_LOOKAHEAD = 5
LONGEST_NAME = 100  # characters of a header, where another row may be the header
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?", re.ASCII)


@dataclass(frozen=True)
class Table:
    """Table of a file. `worksheet` is "" in files without sheets; `rows` opens the file anew."""

    file: str
    worksheet: str
    headers: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]
    location_of: Callable[[int, str], str]
    """Place of a row's cell, after the file's name: ":12", ": Ratings!E3"; header "" for the row."""
    notes: tuple[str, ...] = field(default=())
    """What the reader assumed, for the summary: an encoding, hidden sheets."""

    @property
    def name(self) -> str:
        """Name of the table in summaries: the file, and the sheet."""
        return f"{self.file}: {self.worksheet}" if self.worksheet else self.file

    def location(self, row: int, header: str = "") -> str:
        return f"{self.file}{self.location_of(row, header)}"


def line_location(row: int, header: str) -> str:
    """Return the location of a cell in a file of lines; the header is named beside it."""
    return f":{row}"


def is_empty(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def header_rows(
    records: Iterable[Record], header: int | Sequence[int] | None
) -> tuple[list[list[str]], int]:
    """Return the header's rows as texts, and the number of the last one.

    `header` is their numbers; without it the header is guessed: the first row with as many non-empty,
    different text cells as the widest of the rows after it. If that row has numbers or long texts, as rows
    of data have, an earlier row with a blank or repeated name is the header. If there is no such row, the
    header is two rows whose joined names differ, or the first full row of names. Raises TableError where
    there is none.
    """
    if header is not None:
        header_numbers = [header] if isinstance(header, int) else list(header)
        cells_by_row = {}
        for number, cells in records:
            if number in header_numbers:
                cells_by_row[number] = [header_text(cell) for cell in cells]
            if number >= max(header_numbers):
                break
        if missing := [number for number in header_numbers if number not in cells_by_row]:
            raise TableError(f"row {missing[0]} is empty, and cannot be the header")
        return [cells_by_row[number] for number in header_numbers], max(header_numbers)
    ahead: list[tuple[int, Sequence[Cell]]] = []
    for record in records:
        ahead.append(record)
        if len(ahead) >= HEADER_LOOKAHEAD * 4:
            break
    for index, (number, cells) in enumerate(ahead):
        names = {str(cell).strip() for cell in cells if isinstance(cell, str) and cell.strip()}
        following = [_filled(row) for _, row in ahead[index + 1 : index + 1 + HEADER_LOOKAHEAD]]
        filled = _filled(cells)
        if names and len(names) == filled and len(names) >= max(following, default=0):
            if any(map(_is_datum, cells)):
                is_ragged = filled > max(following, default=0)  # such as a comma without quotes
                has_long_texts = _have_long_text(cells, *(row for _, row in ahead[index + 1 :][:1]))
                earlier = [
                    record
                    for record in ahead[:index]
                    if has_long_texts or is_ragged or _last_filled(record[1]) >= _last_filled(cells)
                ]
                number, cells = _row_of_names(earlier, filled) or (number, cells)
            return [[header_text(cell) for cell in cells]], number
    if not ahead:
        raise TableError("is empty")
    width = max(_filled(cells) for _, cells in ahead)
    if rows := _two_rows_of_names(ahead, width):
        return [[header_text(cell) for cell in cells] for _, cells in rows], rows[-1][0]
    number, cells = _full_row_of_names(ahead, width) or _row_of_names(ahead, width) or ahead[0]
    return [[header_text(cell) for cell in cells]], number


def _filled(cells: Sequence[Cell]) -> int:
    return sum(not is_empty(cell) for cell in cells)


def _last_filled(cells: Sequence[Cell]) -> int:
    """Return the number of the last filled cell, from 1; 0 for an empty row."""
    return max((number for number, cell in enumerate(cells, 1) if not is_empty(cell)), default=0)


def _have_long_text(*rows: Sequence[Cell]) -> bool:
    """Return whether two rows have long texts in a column, which are no names."""
    return len(rows) == 2 and any(
        isinstance(a, str) and isinstance(b, str) and min(len(a), len(b)) > LONGEST_NAME
        for a, b in zip(*rows, strict=False)
    )


def _is_datum(cell: Cell) -> bool:
    """Return whether a cell is no text, a number, or longer than names of columns are."""
    if is_empty(cell):
        return False
    text = cell.strip() if isinstance(cell, str) else ""
    return not text or len(text) > LONGEST_NAME or bool(_NUMBER.fullmatch(text))


def _full_row_of_names(records: Iterable[Record], width: int) -> Record | None:
    """Return the first row that names all columns, with more than one name in all."""
    for number, cells in records:
        names = {header_text(cell) for cell in cells} - {""}
        if _filled(cells) == width and len(names) > 1 and not any(map(_is_datum, cells)):
            return number, cells
    return None


def _row_of_names(
    records: Iterable[tuple[int, Sequence[Cell]]], width: int
) -> tuple[int, Sequence[Cell]] | None:
    """Return the first row whose different names fill more than half of the columns.

    Such as that of a data frame, whose column of row numbers has no name.
    """
    for number, cells in records:
        names = {header_text(cell) for cell in cells} - {""}
        if not any(map(_is_datum, cells)) and 2 * len(names) > width:
            return number, cells
    return None


def _two_rows_of_names(ahead: Sequence[Record], width: int) -> Sequence[Record]:
    """Return two rows whose joined names differ in all columns; () where there are none.

    Such as merged names of people above what each of them graded. A row of data follows them.
    """
    for index in range(len(ahead) - 2):
        rows, following = ahead[index : index + 2], ahead[index + 2][1]
        if any(_is_datum(cell) for _, cells in rows for cell in cells):
            return ()
        texts = [[header_text(cell) for cell in cells] for _, cells in rows]
        repeated = {name for name in texts[0] if texts[0].count(name) > 1} - {""}
        if any(name in repeated and not below for name, below in zip_longest(*texts, fillvalue="")):
            continue  # a row of data, of which a cell is blank
        names = {*_joined_names(texts, max(map(len, texts)))} - {""}
        if len(names) == width and any(map(_is_datum, following)):
            return rows
    return ()


def is_unnamed(header: str) -> bool:
    """Return whether a column has no name of its own, or is the index of a data frame."""
    return header == "index" or header.startswith(("Unnamed", "Column ", "__index_level_"))


def header_text(cell: Cell) -> str:
    return "" if is_empty(cell) else " ".join(str(cell).split())


def header_names(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return one name for each column.

    Header rows are joined by " / ", equal names are numbered, and a column without a name is called by
    its letters.
    """
    names: list[str] = []
    counts: dict[str, int] = {}
    for column, joined in enumerate(_joined_names(rows, width)):
        name = joined or f"Column {column_letters(column)}"
        counts[name] = counts.get(name, 0) + 1
        names.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return names


def _joined_names(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    for column in range(width):
        parts = [row[column] for row in rows if column < len(row) and row[column]]
        yield " / ".join(dict.fromkeys(parts))


def column_letters(column: int) -> str:
    """Return the letters of a column, counted from 0: A, B, ... Z, AA."""
    label = ""
    column += 1
    while column:
        column, remainder = divmod(column - 1, 26)
        label = chr(65 + remainder) + label
    return label


def grid_table(
    file: str,
    worksheet: str,
    records: Callable[[], Iterator[Record]],
    *,
    header: int | Sequence[int] | None,
    until: str,
    location_of: Callable[[int, int], str] | None,
    notes: Sequence[str] = (),
) -> Table:
    """Return the table of records of a CSV file or a worksheet. Raises TableError."""
    rows, last = header_rows(records(), header)
    width = max(len(row) for row in rows)
    headers = header_names(rows, width)
    columns = {name: column for column, name in enumerate(headers)}

    def table_rows() -> Iterator[Row]:
        for number, cells in records():
            if number <= last or all(is_empty(cell) for cell in cells):
                continue
            first = next(cell for cell in cells if not is_empty(cell))
            if until and str(first).strip() == until:
                return
            if len(cells) > width and any(not is_empty(cell) for cell in cells[width:]):
                raise TableError(
                    f"has {len(cells)} cells, and the header has {width}", location(number, "")
                )
            yield number, dict(zip(headers, cells, strict=False))

    def location(number: int, name: str) -> str:
        if location_of is None:
            return line_location(number, name)
        return f": {location_of(number, columns.get(name, 0))}"

    return Table(file, worksheet, tuple(headers), table_rows, location, tuple(notes))
