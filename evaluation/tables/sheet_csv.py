"""Tables and the data of figures as CSV: UTF-8, and all the digits that mean anything."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from annotation.formats.writing import safe_cell
from evaluation.csv_tables import ESTIMATE, estimate_cells, estimate_header
from evaluation.tables.sheet import Sheet, Value


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
                row += [None] * len(ESTIMATE) if cell is None else estimate_cells(cell.found)
            rows.append(row)
    return csv_text(header, rows)


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:z.12g}"
    return "" if value is None else str(safe_cell(value))
