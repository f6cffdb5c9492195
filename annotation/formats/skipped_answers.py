"""Answers of annotation tools that an import leaves out, with positions. No Django here."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
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


class AnswerPosition(int):
    """Line number of an answer, with its item (from 1), task, annotation and person."""

    item: int
    part: Part

    def __new__(cls, line: int, item: int, part: Part) -> AnswerPosition:
        position = super().__new__(cls, line)
        position.item, position.part = item, part
        return position

    @property
    def ids(self) -> dict[str, str]:
        return {name: getattr(self.part, name) for name in ("task", "annotation", "person")}

    def __str__(self) -> str:
        """Return the item and ids that follow the line number in an error."""
        ids = (f"{name} {value}" for name, value in self.ids.items() if value)
        return ", ".join([f"item {self.item}", *ids])


@dataclass(frozen=True)
class SkippedAnswer:
    """An answer left out by an import: its position, the ids of the tool, and the reason."""

    file: str
    line: int
    item: int
    task: str
    annotation: str
    person: str
    field: str
    reason: str

    def __str__(self) -> str:
        ids_by_name = {"task": self.task, "annotation": self.annotation, "person": self.person}
        ids = [f"{name} {value}" for name, value in ids_by_name.items() if value]
        position = ", ".join([f"item {self.item}", *ids])
        parts = (f"{self.file}:{self.line}", position, self.field, self.reason)
        return ": ".join(part for part in parts if part)


COLUMNS = tuple(field.name for field in fields(SkippedAnswer))


def as_json(answers: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps(list(answers), ensure_ascii=False, indent=1) + "\n"


def as_csv(answers: Iterable[Mapping[str, Any]]) -> str:
    """Return a table with a header, with spreadsheet formulas escaped by an apostrophe."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for answer in answers:
        writer.writerow({name: _cell(value) for name, value in answer.items()})
    return text.getvalue()


def _cell(value: Any) -> Any:
    return (
        f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value
    )


def rows_of(answers: Iterable[SkippedAnswer]) -> list[dict[str, Any]]:
    return [asdict(answer) for answer in answers]
