"""The tables and figures as the page shows them: numbers as they are printed, and drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from evaluation.paper.export import can_draw, files_of, svg_of
from evaluation.paper.inline_svg import inline_svg
from evaluation.paper.params import PaperChoice
from evaluation.paper.parts import Figure, Made
from evaluation.paper.sheet import Cell, Line, Sheet
from evaluation.stats.estimate import Estimate

TITLES = {
    "table1": "Table 1. Systems, their contexts and their reports",
    "table2": "Table 2. Coverage at two thresholds",
    "table3": "Table 3. Retrieval against reports by the size of Z",
    "figure4": "Figure 4. Coverage of each report as people and the judge see it",
    "figure5": "Figure 5. Whether the metrics order the systems alike",
    "figure4_correlations": "How far raters go together",
    "figure4_values": "The values of Figure 4",
    "figure5_values": "The values of Figure 5",
}


@dataclass(frozen=True)
class ShownCell:
    """A cell with its numbers as they are printed; `mark` is greatest, least or nothing."""

    estimate: Estimate
    number: str
    limits: str
    mark: str


@dataclass(frozen=True)
class ShownLine:
    name: str
    note: str
    cells: tuple[ShownCell | None, ...]


@dataclass(frozen=True)
class ShownSheet:
    sheet: Sheet
    title: str
    blocks: tuple[tuple[ShownLine, ...], ...]


@dataclass(frozen=True)
class Shown:
    """A table, or a figure with its drawing and its numbers; or why there is none."""

    name: str
    title: str
    why_not: str = ""
    figure: Figure | None = None
    svg: SafeString | None = None
    sheets: Sequence[ShownSheet] = ()
    files: Sequence[str] = ()


def shown(choice: PaperChoice, made: Made) -> list[Shown]:
    """All tables and figures of the paper in its order, those too that are not made."""
    names = [name for name in TITLES if name in made.parts or name in made.left_out]
    return [_shown(choice, made, name) for name in names]


def _shown(choice: PaperChoice, made: Made, name: str) -> Shown:
    title = TITLES[name]
    if name in made.left_out:
        return Shown(name, title, made.left_out[name])
    part = made.parts[name]
    files = tuple(files_of(choice, part))
    if isinstance(part, Sheet):
        return Shown(name, title, sheets=[shown_sheet(part)], files=files)
    svg = inline_svg(svg_of(choice, part), name, title) if can_draw() else None
    sheets = [shown_sheet(sheet) for sheet in part.sheets]
    return Shown(name, title, figure=part, svg=svg, sheets=sheets, files=files)


def shown_sheet(sheet: Sheet) -> ShownSheet:
    """A table with its numbers as its LaTeX prints them."""
    blocks = (tuple(_shown_line(sheet, line) for line in block.lines) for block in sheet.blocks)
    return ShownSheet(sheet, TITLES[sheet.label], tuple(blocks))


def _shown_line(sheet: Sheet, line: Line) -> ShownLine:
    cells = []
    for column, cell in enumerate(line.cells):
        mark = sheet.extreme(line, column) if line.ranked else None
        cells.append(_shown_cell(cell, mark or "") if cell else None)
    return ShownLine(line.name, line.note, tuple(cells))


def _shown_cell(cell: Cell, mark: str) -> ShownCell:
    low, high = cell.estimate.low, cell.estimate.high
    limits = ""
    if low is not None and high is not None:
        limits = f"[{_signed(cell.style.number(low))}, {_signed(cell.style.number(high))}]"
    return ShownCell(cell.estimate, _signed(cell.number or ""), limits, mark)


def _signed(number: str) -> str:
    return number.replace("-", "−")
