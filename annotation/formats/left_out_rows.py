"""Rows of other tools' files that an import leaves out, with positions. No Django here."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any


class Repeated(StrEnum):
    """Treatment of a pair that one person graded twice in a tool, with different answers."""

    LEAVE_OUT = "leave-out"
    NEWEST = "newest"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Part:
    """Answers of one person to an item, with the ids of the tool.

    `time` is in ISO 8601, or empty.
    """

    value: Any
    task: str = ""
    annotation: str = ""
    person: str = ""
    time: str = ""


_NO_PART = Part(None)


class RowPosition(int):
    """Line number of a row in a file of another tool, with its item and the ids of the tool.

    `item` counts from 1, and is 0 where the line alone tells the row. `unit` identifies what is
    left out as a whole, in its file.
    """

    item: int
    part: Part
    unit: Hashable

    def __new__(
        cls, line: int, item: int = 0, part: Part = _NO_PART, unit: Hashable = None
    ) -> RowPosition:
        position = super().__new__(cls, line)
        position.item, position.part, position.unit = item, part, unit
        return position

    @property
    def ids(self) -> dict[str, str]:
        return {name: getattr(self.part, name) for name in ("task", "annotation", "person")}

    @property
    def description(self) -> str:
        """Return the item and ids that follow the line number in an error."""
        return _position_text(self.item, self.ids)


@dataclass(frozen=True)
class LeftOutRow:
    """A row left out by an import: its kind, position, ids of the tool, and reason."""

    file: str
    line: int
    item: int
    kind: str
    task: str
    annotation: str
    person: str
    field: str
    reason: str

    def __str__(self) -> str:
        parts = (f"{self.file}:{self.line}", self.position, self.field, self.reason)
        return f"{self.kind}, {': '.join(part for part in parts if part)}"

    @property
    def position(self) -> str:
        """Return the item and ids, for an error."""
        ids_by_name = {"task": self.task, "annotation": self.annotation, "person": self.person}
        return _position_text(self.item, ids_by_name)


def _position_text(item: int, ids_by_name: Mapping[str, str]) -> str:
    ids = [f"{name} {value}" for name, value in ids_by_name.items() if value]
    return ", ".join([f"item {item}", *ids] if item else ids)


COLUMNS = tuple(field.name for field in fields(LeftOutRow))


def as_json(rows: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n"


def as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table with a header, with spreadsheet formulas escaped by an apostrophe.

    The item is empty where the line alone tells the row.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items() if value})
    return text.getvalue()


def _cell(value: Any) -> Any:
    return (
        f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value
    )


def rows_of(rows: Iterable[LeftOutRow]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]
