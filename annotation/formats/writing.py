"""What writers of files share: JSON lines, cells that are no formulas, the order and the sending of lines."""

import json
import zipfile
from typing import Any

from django.db import connection
from django.db.models import F
from django.db.models.functions import Collate

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: such words get an apostrophe in front."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def safe_cell(cell: Any) -> Any:
    """The same of any value: a number below 0 is none of these words."""
    return safe(cell) if isinstance(cell, str) else cell


class ExportError(ValueError):
    """A dataset that a format cannot hold, or a place that cannot be written to."""


def json_line(value: dict[str, Any]) -> str:
    """Letters stay letters: a file is read by people too."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def by_code_point(field: str) -> Collate:
    """Order by a name's code points. PostgreSQL would order by the rules of a language."""
    return Collate(F(field), "C" if connection.vendor == "postgresql" else "BINARY")


def zip_entry(name: str) -> zipfile.ZipInfo:
    """A file of an archive, dated 1980 like those of every export: the same files give the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


class Echo:
    """A file for csv.writer that hands each line back, so that a response can send it at once."""

    def write(self, line: str) -> str:
        return line
