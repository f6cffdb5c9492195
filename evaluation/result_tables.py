"""Tables of results as files: CSV, JSON and LaTeX, written from the same rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path

from annotation.formats.writing import ExportError, escape_formula
from annotation.program_version import program_versions
from evaluation.latex import MAX_ROWS, latex_table
from evaluation.stats.estimate import Estimate

Cell = str | int | float | None
ESTIMATE = ("value", "low", "high", "n", "missing", "reason")
FORMATS = ("csv", "json", "tex")
PAGE_FORMATS = ("csv", "tex")
"""Formats of the only table of a page that has a JSON file itself."""
Row = Sequence[Cell | Estimate]


class Statistic(str):
    """Name of a column of estimates. In CSV and JSON it is six columns: see ESTIMATE."""


class ResultTable(NamedTuple):
    """Header and rows. A column named by a Statistic has an Estimate, a number or None."""

    header: Sequence[str]
    rows: Iterable[Row]

    @property
    def flat_header(self) -> list[str]:
        """Names of the columns, with those of the parts of each estimate."""
        return [
            part
            for name in self.header
            for part in (estimate_header(name) if isinstance(name, Statistic) else [name])
        ]

    def flat_rows(self) -> Iterator[list[Cell]]:
        """Yield the rows under `flat_header`, in full precision."""
        for row in self.rows:
            cells: list[Cell] = []
            for name, cell in zip(self.header, row, strict=True):
                if isinstance(cell, Estimate):
                    cells += estimate_cells(cell)
                else:
                    cells.append(cell)
                    cells += [None] * (len(ESTIMATE) - 1) if isinstance(name, Statistic) else []
            yield cells

    def records(self) -> list[dict[str, Cell]]:
        """Return each row as a dictionary by the names of `flat_header`."""
        header = self.flat_header
        return [dict(zip(header, row, strict=True)) for row in self.flat_rows()]

    def restricted_to(self, names: Collection[str]) -> ResultTable:
        """Return the table with those of these columns that it has, in its own order."""
        indices = [index for index, name in enumerate(self.header) if name in names]
        rows = ([row[index] for index in indices] for row in self.rows)
        return ResultTable([self.header[index] for index in indices], rows)

    def csv(self) -> str:
        """Return the table as the text of a CSV file, as `csv_response` sends it."""
        sink = io.StringIO()
        _write_csv(sink, self.flat_header, self.flat_rows())
        return sink.getvalue()


class Number(NamedTuple):
    """Row of the long table: an estimate, or a count, which has a value alone."""

    scope: str
    name: str
    measure: str
    value: Cell
    low: Cell = None
    high: Cell = None
    n: Cell = None
    missing: Cell = None
    reason: Cell = None


def estimated(scope: str, name: str, measure: str, estimate: Estimate) -> Number:
    """Return an estimate as a row of the long table."""
    return Number(scope, name, measure, *estimate_cells(estimate))


def estimate_header(statistic: str) -> list[str]:
    """Return the columns that `estimate_cells` fills, named after the statistic."""
    if not statistic:
        return [*ESTIMATE]
    return [statistic, *(f"{statistic}_{part}" for part in ESTIMATE[1:])]


def estimate_cells(estimate: Estimate) -> list[Cell]:
    """Return value, interval, n, missing, and the reason for having no value or no interval."""
    reason = estimate.reason or estimate.interval_reason
    return [estimate.value, estimate.low, estimate.high, estimate.n, estimate.missing, reason]


def estimate_record(estimate: Estimate) -> dict[str, Cell]:
    """Return the parts of an estimate by their names in ESTIMATE."""
    return dict(zip(ESTIMATE, estimate_cells(estimate), strict=True))


def plain_cell(cell: Cell) -> Cell:
    """Escape a text cell so that no spreadsheet reads it as a formula."""
    return escape_formula(cell) if isinstance(cell, str) else cell


def table_paths(
    route: str, view: Callable[..., Any], name: str, formats: Sequence[str] = FORMATS
) -> list[URLPattern]:
    """Return the URLs of a table in all formats: `ROUTE.csv` and so on, all of the same name.

    The view gets the ending as `file_format`. `reverse` returns the CSV file, which is the last.
    """
    return [
        path(f"{route}.{ending}", view, {"file_format": ending}, name=name)
        for ending in reversed(formats)
    ]


def table_file(
    request: HttpRequest, file_format: str, table: ResultTable, *, name: str, caption: str
) -> HttpResponse:
    """Return a table as `name`.csv, .json or .tex to download.

    `caption` is that of the LaTeX table. Where the page has a judge, the state of its certificate is in
    the last column, of LaTeX in the caption. Raises ExportError for a table too long for LaTeX.
    """
    certificates = getattr(request, "certificates", "")
    if file_format == "tex" and certificates:
        caption = f"{caption}. {certificates}"
    elif certificates:
        table = with_certificates(table, certificates)
    if file_format == "json":
        response: HttpResponse = JsonResponse(
            table.records(), safe=False, json_dumps_params={"indent": 2, "ensure_ascii": False}
        )
    elif file_format == "tex":
        rows = list(islice(table.rows, MAX_ROWS + 1))
        if len(rows) > MAX_ROWS:
            raise ExportError(
                f"This table has over {MAX_ROWS} rows: LaTeX has no page for it. Use CSV."
            )
        table = ResultTable(table.header, rows)
        origin = f"{request.get_host()}{request.get_full_path()}"
        content = latex_text(table, label=name, caption=caption, origin=origin)
        response = HttpResponse(content, content_type="application/x-tex; charset=utf-8")
    else:
        return csv_response(name, table.flat_header, table.flat_rows())
    response["Content-Disposition"] = f'attachment; filename="{name}.{file_format}"'
    return response


def with_certificates(table: ResultTable, certificates: str) -> ResultTable:
    """Return the table with the certificates of its judges as last column, if any."""
    if not certificates:
        return table
    return ResultTable([*table.header, "certificate"], ([*row, certificates] for row in table.rows))


def latex_text(table: ResultTable, *, label: str, caption: str, origin: str) -> str:
    """Return a table of at most MAX_ROWS rows as LaTeX; a comment names its origin."""
    source = f"CRUX workbench {program_versions('en')['version']}, {origin}"
    return latex_table(table.header, list(table.rows), label=label, caption=caption, source=source)


def csv_response(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> HttpResponse:
    """Return a table as `name`.csv: UTF-8, commas, one header line.

    None becomes an empty cell, a number all its digits. Text that a spreadsheet would take for a
    formula gets an apostrophe in front, as it may come from files of others.
    """
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
    _write_csv(response, header, rows)
    return response


class _Sink(Protocol):
    def write(self, text: str, /) -> object: ...


def _write_csv(sink: _Sink, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([plain_cell(cell) for cell in row] for row in rows)
