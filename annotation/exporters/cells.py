"""Cells of a table that spreadsheets open."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: such words get an apostrophe in front."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
