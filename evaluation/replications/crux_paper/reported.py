"""Reported results, such as a paper's Table 1: read from CSV, and typeset again."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from annotation.errors import UserError
from evaluation.replications.crux_paper.names import (
    AGAINST,
    ALPHA_NDCG,
    COVERAGE_Y,
    COVERAGE_Z,
    DENSITY_Y,
    DENSITY_Z,
    Metric,
)
from evaluation.replications.crux_paper.table_layout import (
    AS_REPORTED,
    TAU,
    Block,
    Cell,
    Line,
    PaperTable,
    Value,
    csv_text,
)
from evaluation.stats.correlation import Correlation, kendall_tau_b
from evaluation.stats.estimate import Estimate

# Metrics by the names of columns in such a file.
METRICS = {
    "CovZ": COVERAGE_Z,
    "aNDCG": ALPHA_NDCG,
    "Covy": COVERAGE_Y,
    "DenZ": DENSITY_Z,
    "Deny": DENSITY_Y,
}
REFERENCE = "reference"
PRINTED = "printed"
LISTED = 20  # faults in a message


class ReportedError(UserError):
    """The file does not hold reported results. The message has a line for each fault."""


@dataclass(frozen=True, slots=True)
class Field:
    """Column of scores: a metric of one of the collections that the file has."""

    name: str
    collection: str
    metric: Metric


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """Reported results of a system: a value for each field, None where there is none."""

    system: str
    block: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Reported:
    """Content of the file, each block in the order of its rows.

    `printed` are correlations as printed.
    """

    fields: tuple[Field, ...]
    references: tuple[ReportedRow, ...]
    systems: tuple[ReportedRow, ...]
    """The empirical systems: those that are compared."""
    printed: tuple[ReportedRow, ...]

    def tau(self, x: Field, y: Field) -> Correlation:
        """Return Kendall's tau-b of two fields over the empirical systems alone, `n` of them."""
        first, second = (
            np.array([row.values[self.fields.index(field)] for row in self.systems], np.float64)
            for field in (x, y)
        )
        return kendall_tau_b(first, second)

    def against(self, field: Field) -> Field | None:
        """Return the field of the final result that a field of retrieval is compared with.

        None if there is none.
        """
        target = (field.collection, AGAINST.get(field.metric))
        matches = (
            candidate
            for candidate in self.fields
            if (candidate.collection, candidate.metric) == target
        )
        return next(matches, None)


def read_reported(path: Path) -> Reported:
    """Read the results in a CSV with the header `system,block`, then a column for each metric.

    A metric is called as in METRICS; where the file has several collections, with the
    collection and an underscore before it, as in `DUC_CovZ`. The block `reference` holds reference
    bounds, `printed` correlations as somebody printed them, and all other blocks systems that are
    compared. An empty cell was not reported. Raises ReportedError, with file, line and column of
    each fault, for a file that is not CSV in UTF-8, another header, a value that is no finite
    number, or a system that stands twice; OSError if the file cannot be read.
    """
    lines = _lines(path)
    header = next(lines, (1, []))
    faults: list[str] = []
    fields = _fields(header[1], faults)
    rows: list[ReportedRow] = []
    if not faults:
        rows = list(_rows(lines, fields, faults))
    if faults:
        more = [f"and {len(faults) - LISTED} more"] if len(faults) > LISTED else []
        raise ReportedError("\n".join([f"{path.name}, {f}" for f in faults[:LISTED]] + more))
    of = {block: tuple(r for r in rows if r.block == block) for block in (REFERENCE, PRINTED)}
    systems = tuple(row for row in rows if row.block not in of)
    return Reported(fields, of[REFERENCE], systems, of[PRINTED])


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty rows, with the number of the line on which each ends."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            for cells in reader:
                if any(cells):
                    yield reader.line_num, [cell.strip() for cell in cells]
        except csv.Error as error:
            raise ReportedError(f"{path.name}, line {reader.line_num}: {error}") from error
        except UnicodeDecodeError as error:
            location = f"{path.name}, after line {reader.line_num}"
            raise ReportedError(f"{location}: it is not UTF-8 ({error.reason})") from error


def _fields(header: Sequence[str], faults: list[str]) -> tuple[Field, ...]:
    fields: list[Field] = []
    for index, expected in enumerate(("system", "block")):
        heading = header[index] if index < len(header) else ""
        if heading != expected:
            faults.append(
                f"line 1, column {index + 1}: the header is “{expected}”, not “{heading}”"
            )
    for column, name in enumerate(header[2:], start=3):
        collection, _, metric = name.rpartition("_")
        if metric not in METRICS:
            names = ", ".join(METRICS)
            faults.append(f"line 1, column {column}: “{name}” does not end with one of: {names}")
        elif name in (field.name for field in fields):
            faults.append(f"line 1, column {column}: “{name}” stands twice")
        else:
            fields.append(Field(name, collection, METRICS[metric]))
    if len(header) == 2 and not faults:
        faults.append(f"line 1, column 3: there is no metric; there are: {', '.join(METRICS)}")
    return tuple(fields)


def _rows(
    lines: Iterator[tuple[int, list[str]]], fields: tuple[Field, ...], faults: list[str]
) -> Iterator[ReportedRow]:
    first: dict[str, int] = {}
    for line, cells in lines:
        if len(cells) != len(fields) + 2:
            faults.append(f"line {line}: {len(cells)} cells, not the {len(fields) + 2} of line 1")
            continue
        system, block, *values = cells
        if not system or not block:
            faults.append(f"line {line}, column {'block' if system else 'system'}: it is empty")
        if system in first:
            faults.append(f"line {line}, column system: “{system}” stands on line {first[system]}")
        first.setdefault(system, line)
        yield ReportedRow(
            system,
            block,
            tuple(
                _number(value, f"line {line}, column {field.name}", faults)
                for field, value in zip(fields, values, strict=True)
            ),
        )


def _number(value: str, location: str, faults: list[str]) -> float | None:
    if not value:
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        faults.append(f"{location}: “{value}” is not a number")
    return number


LABEL = "table1_reported"
NOT_REPORTED = "not reported"


def reported_table(reported: Reported, source: str) -> PaperTable:
    """Return the table of a file of reported results; `source` names the file.

    Reference bounds stand first and the other blocks as in the file. Below them is Kendall's tau-b
    over the empirical systems, and as it was printed where the file has that.
    """
    blocks = [Block("reference", tuple(map(_line, reported.references)))]
    for name, rows in groupby(reported.systems, key=lambda row: row.block):
        blocks.append(Block(name, tuple(_line(row, ranked=True) for row in rows)))
    n = len(reported.systems)
    taus = tuple(None if tau is None else Cell(tau, TAU) for tau in _taus(reported))
    printed = (_printed(row) for row in reported.printed)
    blocks.append(Block("tau", (Line(f"Kendall τ ({n} systems)", taus), *printed)))
    return PaperTable(
        label=LABEL,
        stub="Retrieval context",
        columns=tuple(
            field.metric.column(
                f"{field.collection}_" if field.collection else "", field.collection
            )
            for field in reported.fields
        ),
        blocks=tuple(block for block in blocks if block.lines),
        caption=(
            f"Results as reported in {source}, in percent; of the {n} empirical systems the "
            "greatest value in bold and the least underlined. Kendall τ (tau-b, between retrieval "
            "and final result) is computed from these columns over those systems alone, without "
            "the reference bounds."
        ),
    )


def reported_csv(reported: Reported) -> str:
    """Return the table as CSV: the columns of the file itself, then a row of tau."""
    rows: list[list[Value]] = [
        [row.system, row.block, *row.values] for row in (*reported.references, *reported.systems)
    ]
    taus = (None if tau is None else tau.value for tau in _taus(reported))
    rows.append([f"Kendall tau-b ({len(reported.systems)} systems)", "tau", *taus])
    rows += [[row.system, row.block, *row.values] for row in reported.printed]
    return csv_text(["system", "block", *(field.name for field in reported.fields)], rows)


def _taus(reported: Reported) -> list[Estimate | None]:
    pairs = ((field, reported.against(field)) for field in reported.fields)
    return [None if target is None else reported.tau(field, target) for field, target in pairs]


def _line(row: ReportedRow, *, ranked: bool = False) -> Line:
    cells = (
        Estimate(None, NOT_REPORTED, 0) if value is None else Estimate(value, None, 1)
        for value in row.values
    )
    return Line(row.system, tuple(Cell(cell, AS_REPORTED) for cell in cells), ranked)


def _printed(row: ReportedRow) -> Line:
    """Return a correlation as it was printed, blank where none was."""
    cells = (None if value is None else Cell(Estimate(value, None, 1), TAU) for value in row.values)
    return Line("Kendall τ, as printed", tuple(cells))
