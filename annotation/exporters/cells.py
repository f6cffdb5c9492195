"""Cells of a table that spreadsheets open."""

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: such words get an apostrophe in front."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def safe_cell(cell: Any) -> Any:
    """The same of any value: a number below 0 is none of these words."""
    return safe(cell) if isinstance(cell, str) else cell
