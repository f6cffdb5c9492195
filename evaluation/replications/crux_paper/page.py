"""Tables and figures as the page displays them: formatted numbers, and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from evaluation.replications.crux_paper.export import (
    can_draw,
    files_of,
    supplement_of_choice,
    svg_of,
)
from evaluation.replications.crux_paper.inline_svg import inline_svg
from evaluation.replications.crux_paper.parts import Figure, PaperParts
from evaluation.replications.crux_paper.query import PaperQuery
from evaluation.replications.crux_paper.supplement import DOCUMENTS
from evaluation.replications.crux_paper.table_layout import Cell, Line, PaperTable
from evaluation.stats.estimate import Estimate

TITLES = {
    "table1": "Table 1. Systems, their contexts and their reports",
    "table2": "Table 2. Coverage at two thresholds",
    "table3": "Table 3. Retrieval against reports by the size of Z",
    "figure4": "Figure 4. Coverage of each report by people and by the judge",
    "figure5": "Figure 5. Rank correlation of the metrics",
    "figure4_correlations": "Correlations between raters",
    "figure4_values": "Values of Figure 4",
    "figure5_values": "Values of Figure 5",
}


@dataclass(frozen=True)
class CellView:
    """Cell with its numbers formatted; `mark` is greatest, least or nothing."""

    estimate: Estimate
    number: str
    limits: str
    mark: str
    letter: str
    """Footnote with the reason of an undefined value."""


@dataclass(frozen=True)
class LineView:
    name: str
    letter: str
    """Footnote of the line, if it has one."""
    cells: tuple[CellView | None, ...]


@dataclass(frozen=True)
class TableView:
    table: PaperTable
    title: str
    blocks: tuple[tuple[LineView, ...], ...]
    footnotes: Mapping[str, str]
    """Letters by their reasons, as in LaTeX."""


@dataclass(frozen=True)
class PartView:
    """Table, or a figure with its drawing and its numbers; or the reason why there is none."""

    name: str
    title: str
    missing_reason: str = ""
    figure: Figure | None = None
    svg: SafeString | None = None
    tables: Sequence[TableView] = ()
    files: Sequence[str] = ()


def part_views(choice: PaperQuery, result: PaperParts) -> list[PartView]:
    """Return all tables and figures of the paper in its order, those too that are not made."""
    names = [name for name in TITLES if name in result.parts or name in result.left_out]
    return [_part_view(choice, result, name) for name in names]


@dataclass(frozen=True)
class FurtherTables:
    """Tables of other pages: title and files of each, and the reasons of those left out."""

    tables: Sequence[tuple[str, Sequence[str]]]
    left_out: Sequence[tuple[str, str]]
    documents: Sequence[str] = DOCUMENTS


def further_tables(choice: PaperQuery) -> FurtherTables:
    """Return the names of further files; none of them is computed."""
    supplement = supplement_of_choice(choice)
    return FurtherTables(
        [
            (table.title, (f"{name}.tex", f"{name}.csv"))
            for name, table in supplement.tables.items()
        ],
        list(supplement.left_out.items()),
    )


def _part_view(choice: PaperQuery, result: PaperParts, name: str) -> PartView:
    title = TITLES[name]
    if name in result.left_out:
        return PartView(name, title, result.left_out[name])
    part = result.parts[name]
    files = tuple(files_of(choice, part))
    if isinstance(part, PaperTable):
        return PartView(name, title, tables=[table_view(part)], files=files)
    svg = inline_svg(svg_of(choice, part), name, title) if can_draw() else None
    sheets = [table_view(table) for table in part.tables]
    return PartView(name, title, figure=part, svg=svg, tables=sheets, files=files)


def table_view(table: PaperTable) -> TableView:
    """Return a table with its numbers as its LaTeX prints them."""
    footnotes = table.footnotes()
    blocks = tuple(
        tuple(_line_view(table, line, footnotes) for line in block.lines) for block in table.blocks
    )
    return TableView(table, TITLES[table.label], blocks, footnotes)


def _line_view(table: PaperTable, line: Line, footnotes: Mapping[str, str]) -> LineView:
    cells = []
    for column, cell in enumerate(line.cells):
        mark = table.extreme(line, column) if line.ranked else None
        cells.append(_cell_view(cell, mark or "", footnotes) if cell else None)
    return LineView(line.name, footnotes.get(line.note, ""), tuple(cells))


def _cell_view(cell: Cell, mark: str, footnotes: Mapping[str, str]) -> CellView:
    low, high = cell.estimate.low, cell.estimate.high
    limits = ""
    if low is not None and high is not None:
        limits = f"[{_signed(cell.style.number(low))}, {_signed(cell.style.number(high))}]"
    letter = footnotes.get(cell.estimate.reason or "", "")
    return CellView(cell.estimate, _signed(cell.number or ""), limits, mark, letter)


def _signed(number: str) -> str:
    return number.replace("-", "−")
