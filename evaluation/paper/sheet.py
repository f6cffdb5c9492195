"""What a table is before it is typeset: lines of estimates under columns, in blocks; and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import ascii_lowercase
from typing import Literal

from annotation.decimals import decimals
from annotation.formats.writing import safe_cell
from evaluation.csv_tables import ESTIMATE, estimate_cells, estimate_header
from evaluation.stats.estimate import Estimate

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Style:
    """How a value is printed: multiplied by `scale`, with `decimals` places."""

    scale: float
    decimals: int

    def number(self, value: float) -> str:
        """As it is printed, with a hyphen for a minus."""
        return decimals(value * self.scale, self.decimals)


SHARE = Style(100, 1)  # a share of 1, printed as a percentage
AS_GIVEN = Style(1, 1)  # a percentage that a paper printed
TAU = Style(1, 3)
MEAN_COUNT = Style(1, 1)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in files, its title in plain words and in LaTeX, and the head above it.

    `is_ranked` is False for what no system is better or worse by.
    """

    key: str
    title: str
    latex: str
    group: str = ""
    is_ranked: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """An estimate and how it is printed."""

    estimate: Estimate
    style: Style = SHARE

    @property
    def number(self) -> str | None:
        """The value as it is printed, None where it is undefined."""
        return None if self.estimate.value is None else self.style.number(self.estimate.value)


@dataclass(frozen=True, slots=True)
class Line:
    """A row. A cell of None is blank: there is nothing that could stand there.

    `ranked` lines are those that are compared: the best and the worst of them are marked.
    `note` says something about the whole row; `facts` are values for the file alone.
    """

    name: str
    cells: tuple[Cell | None, ...]
    ranked: bool = False
    note: str = ""
    facts: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that stand together, between rules."""

    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table. `stub` heads the names of the lines; `label` names it in files and references.

    `caption` says what it shows in plain words, `notes` what is said below it, and `facts` name
    the lines' facts.
    """

    label: str
    stub: str
    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]
    caption: str
    notes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def lines(self) -> Iterator[Line]:
        for block in self.blocks:
            yield from block.lines

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The heads above the columns, and above how many each is; none where no column has one."""
        if not any(column.group for column in self.columns):
            return []
        grouped = groupby(self.columns, key=lambda column: column.group)
        return [(group, len(list(columns))) for group, columns in grouped]

    def extreme(self, line: Line, column: int) -> Literal["greatest", "least"] | None:
        """Whether a line has the greatest or the least number of a column, as they are printed.

        Only ranked lines are compared, and of these the values from most topics: one from fewer
        may be extreme for its topics alone. Where all numbers are the same none is.
        """
        cells = [other.cells[column] for other in self.lines if other.ranked]
        defined = [cell for cell in cells if cell is not None and cell.estimate.value is not None]
        full = max((cell.estimate.n for cell in defined), default=0)
        values = {
            cell.number: cell.estimate.value or 0.0 for cell in defined if cell.estimate.n == full
        }
        cell = line.cells[column]
        if (
            not (line.ranked and self.columns[column].is_ranked)
            or cell is None
            or len(values) < 2
            or cell.estimate.n != full
        ):
            return None
        ordered = sorted(values, key=values.__getitem__)
        if cell.number == ordered[-1]:
            return "greatest"
        return "least" if cell.number == ordered[0] else None

    def footnotes(self) -> dict[str, str]:
        """Why values are undefined and what is said of rows: each reason, and its letters."""
        reasons: dict[str, str] = {}
        for line in self.lines:
            undefined = (cell.estimate.reason for cell in line.cells if cell is not None)
            for reason in (line.note, *undefined):
                if reason and reason not in reasons:
                    reasons[reason] = _letters(len(reasons))
        return reasons


def _letters(index: int) -> str:
    """a to z, then aa, ab and so on."""
    turn, letter = divmod(index, len(ascii_lowercase))
    return (_letters(turn - 1) if turn else "") + ascii_lowercase[letter]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Rows under a header. None is an empty cell.

    Numbers have twelve significant digits: more than any of them means, and fewer than those in
    which two processors differ.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_text(value) for value in row] for row in rows)
    return file.getvalue()


def sheet_csv(sheet: Sheet) -> str:
    """A table as CSV: a line each, every value with its interval, n, missing and reason.

    Values keep the unit in which they were computed: a share is a share, whatever is printed.
    """
    header = ["block", "name", "compared", "note", *sheet.facts]
    for column in sheet.columns:
        header += estimate_header(column.key)
    rows: list[list[Value]] = []
    for block in sheet.blocks:
        for line in block.lines:
            compared = "yes" if line.ranked else "no"
            facts = line.facts or [None] * len(sheet.facts)
            row: list[Value] = [block.name, line.name, compared, line.note, *facts]
            for cell in line.cells:
                row += [None] * len(ESTIMATE) if cell is None else estimate_cells(cell.estimate)
            rows.append(row)
    return csv_text(header, rows)


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:z.12g}"
    return "" if value is None else str(safe_cell(value))
