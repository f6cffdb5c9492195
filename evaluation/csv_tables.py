"""Tables as CSV files to download."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.http import HttpResponse

from annotation.formats.writing import safe
from evaluation.stats.estimate import Estimate

Cell = str | int | float | None
ESTIMATE = ("value", "low", "high", "n", "missing", "reason")


class Number(NamedTuple):
    """A line of the long frame: an estimate, or a count, which has a value alone."""

    scope: str
    name: str
    measure: str
    value: Cell
    low: Cell = None
    high: Cell = None
    n: Cell = None
    missing: Cell = None
    reason: Cell = None


def csv_response(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> HttpResponse:
    """A table as `name`.csv: UTF-8, commas, one header line.

    None becomes an empty cell, a number all its digits. Words that a spreadsheet would take for a
    formula get an apostrophe in front, as they may come from files of others.
    """
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
    writer = csv.writer(response, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([plain_cell(cell) for cell in row] for row in rows)
    return response


def estimate_header(what: str) -> list[str]:
    """The columns that `estimate_cells` fills, named after the statistic."""
    return [what, *(f"{what}_{part}" for part in ESTIMATE[1:])]


def estimate_cells(estimate: Estimate) -> list[Cell]:
    """Value, interval, n, missing, and the reason for having no value or no interval."""
    why = estimate.reason or estimate.interval_reason
    return [estimate.value, estimate.low, estimate.high, estimate.n, estimate.missing, why]


def estimated(scope: str, name: str, measure: str, estimate: Estimate) -> Number:
    """An estimate as a line of the long frame."""
    return Number(scope, name, measure, *estimate_cells(estimate))


def plain_cell(cell: Cell) -> Cell:
    """A cell as it is written: no spreadsheet takes its words for a formula."""
    return safe(cell) if isinstance(cell, str) else cell
