"""Export helpers: JSON lines, formula-safe cells, ordering, zip entries, CSV streaming."""

import json
import zipfile
from typing import Any

from django.db import connection
from django.db.models import F
from django.db.models.functions import Collate

from annotation.errors import UserError

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formula(cell: str) -> str:
    """Escape a cell that a spreadsheet would take for a formula with an apostrophe."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def escape_cell(cell: Any) -> Any:
    """Escape a cell of any type: only strings can be formulas."""
    return escape_formula(cell) if isinstance(cell, str) else cell


class ExportError(UserError):
    """A dataset that a format cannot hold, or a path that cannot be written to."""


def json_line(value: dict[str, Any]) -> str:
    """Return a line of JSON, with non-ASCII characters readable."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def by_code_point(field: str) -> Collate:
    """Order by a name's code points; PostgreSQL would use the collation of a language."""
    return Collate(F(field), "C" if connection.vendor == "postgresql" else "BINARY")


def zip_entry(name: str) -> zipfile.ZipInfo:
    """Return an archive entry dated 1980, so that equal files give equal archives."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


class Echo:
    """Pseudo-file for csv.writer that returns each line, for streaming responses."""

    def write(self, line: str) -> str:
        return line
