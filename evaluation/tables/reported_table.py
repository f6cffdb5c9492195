"""Table 1 from reported results, with Kendall's tau computed from its own columns."""

from __future__ import annotations

from itertools import groupby

from evaluation.agreement.estimate import Estimate
from evaluation.tables.reported import Reported, ReportedRow
from evaluation.tables.sheet import AS_GIVEN, TAU, Block, Cell, Line, Sheet
from evaluation.tables.sheet_csv import Value, csv_text

LABEL = "table1_reported"
NOT_REPORTED = "not reported"


def reported_sheet(reported: Reported, source: str) -> Sheet:
    """The table of a file of reported results; `source` names the file.

    Reference bounds stand first and the other blocks as in the file. Below them is Kendall's tau-b
    over the empirical systems, and as it was printed where the file says that.
    """
    blocks = [Block("reference", tuple(map(_line, reported.references)))]
    for name, rows in groupby(reported.systems, key=lambda row: row.block):
        blocks.append(Block(name, tuple(_line(row, ranked=True) for row in rows)))
    n = len(reported.systems)
    taus = tuple(None if tau is None else Cell(tau, TAU) for tau in _taus(reported))
    printed = (_printed(row) for row in reported.printed)
    blocks.append(Block("tau", (Line(f"Kendall τ ({n} systems)", taus), *printed)))
    return Sheet(
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
    """The same as CSV: the columns of the file itself, then a row of tau."""
    rows: list[list[Value]] = [
        [row.system, row.block, *row.values] for row in (*reported.references, *reported.systems)
    ]
    taus = (None if tau is None else tau.value for tau in _taus(reported))
    rows.append([f"Kendall tau-b ({len(reported.systems)} systems)", "tau", *taus])
    rows += [[row.system, row.block, *row.values] for row in reported.printed]
    return csv_text(["system", "block", *(field.name for field in reported.fields)], rows)


def _taus(reported: Reported) -> list[Estimate | None]:
    held = ((field, reported.against(field)) for field in reported.fields)
    return [None if other is None else reported.tau(field, other) for field, other in held]


def _line(row: ReportedRow, *, ranked: bool = False) -> Line:
    cells = (
        Estimate(None, NOT_REPORTED, 0) if value is None else Estimate(value, None, 1)
        for value in row.values
    )
    return Line(row.system, tuple(Cell(cell, AS_GIVEN) for cell in cells), ranked)


def _printed(row: ReportedRow) -> Line:
    """A correlation as it was printed. Where none was, nothing stands there."""
    cells = (None if value is None else Cell(Estimate(value, None, 1), TAU) for value in row.values)
    return Line("Kendall τ, as printed", tuple(cells))
