"""Layout of a table before typesetting: estimates in lines, columns and blocks; and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from annotation.decimals import decimals
from annotation.formats.writing import escape_cell
from evaluation.latex import footnote_letter
from evaluation.result_tables import ESTIMATE, estimate_cells, estimate_header
from evaluation.stats.estimate import Estimate

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Style:
    """Number format: multiplied by `scale`, with `decimals` places."""

    scale: float
    decimals: int

    def number(self, value: float) -> str:
        """Format a value, with a hyphen for a minus."""
        return decimals(value * self.scale, self.decimals)


SHARE = Style(100, 1)  # a share of 1, printed as a percentage
AS_REPORTED = Style(1, 1)  # a percentage that a paper printed
TAU = Style(1, 3)
MEAN_COUNT = Style(1, 1)


@dataclass(frozen=True, slots=True)
class Column:
    """Column: its key in files, its plain and LaTeX titles, and the head above it.

    `is_ranked` is False for values by which no system is better or worse.
    """

    key: str
    title: str
    latex: str
    group: str = ""
    is_ranked: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """Estimate with its number format."""

    estimate: Estimate
    style: Style = SHARE

    @property
    def number(self) -> str | None:
        """The formatted value, None where it is undefined."""
        return None if self.estimate.value is None else self.style.number(self.estimate.value)


@dataclass(frozen=True, slots=True)
class Line:
    """Row of a table. A cell of None is blank: no value could stand there.

    `ranked` lines are those that are compared: the best and the worst of them are marked.
    `note` is a footnote on the whole row; `facts` are values for the file alone.
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
class PaperTable:
    """Table. `stub` heads the names of the lines; `label` names it in files and references.

    `caption` is in plain words, `notes` are printed below it, and `facts` name the lines' facts.
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
        """Heads above the columns, and the number of columns of each; empty without heads."""
        if not any(column.group for column in self.columns):
            return []
        grouped = groupby(self.columns, key=lambda column: column.group)
        return [(group, len(list(columns))) for group, columns in grouped]

    def extreme(self, line: Line, column: int) -> Literal["greatest", "least"] | None:
        """Return whether a line has the greatest or the least number of a column, as printed.

        Only ranked lines are compared, and of these the values from most topics: one from fewer
        may be extreme for its topics alone. Where all numbers are the same none is.
        """
        cells = [row.cells[column] for row in self.lines if row.ranked]
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
        """Return the footnotes, reasons and notes of rows, with their letters."""
        reasons: dict[str, str] = {}
        for line in self.lines:
            undefined = (cell.estimate.reason for cell in line.cells if cell is not None)
            for reason in (line.note, *undefined):
                if reason and reason not in reasons:
                    reasons[reason] = footnote_letter(len(reasons))
        return reasons


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Return rows under a header as CSV. None is an empty cell.

    Numbers have twelve significant digits: more than any of them means, and fewer than those in
    which two processors differ.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_text(value) for value in row] for row in rows)
    return file.getvalue()


def table_csv(table: PaperTable) -> str:
    """Return a table as CSV: each value with its interval, n, missing and reason.

    Values keep the unit in which they were computed: a share is a share, whatever is printed.
    """
    header = ["block", "name", "compared", "note", *table.facts]
    for column in table.columns:
        header += estimate_header(column.key)
    rows: list[list[Value]] = []
    for block in table.blocks:
        for line in block.lines:
            compared = "yes" if line.ranked else "no"
            facts = line.facts or [None] * len(table.facts)
            row: list[Value] = [block.name, line.name, compared, line.note, *facts]
            for cell in line.cells:
                row += [None] * len(ESTIMATE) if cell is None else estimate_cells(cell.estimate)
            rows.append(row)
    return csv_text(header, rows)


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:z.12g}"
    return "" if value is None else str(escape_cell(value))
