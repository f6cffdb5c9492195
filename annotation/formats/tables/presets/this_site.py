"""Preset of this site's tables of grades: ratings.csv, labels.csv and attempts.csv.

A spreadsheet program may have saved them again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    PresetError,
    PresetTables,
    derived,
    only_table,
    required,
)
from annotation.formats.tables.source import Row, is_empty

_ESCAPED = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
)  # signs before which the export puts an apostrophe
_ROLES = {
    "rater": "rater",
    "rater_kind": "rater.kind",
    "rubric": "rubric",
    "topic": "topic.id",
    "question_index": "question.index",
    "question": "question.text",
    "text_kind": "text.kind",
    "system": "system",
    "text": "text.id",
    "text_sha256": "text.sha256",
    "grade": "grade",
    "copied_from_system": "copied_from.system",
    "copied_from": "copied_from",
    "spans": "spans",
}


_OTHER_NAMES = {"worker": "rater", "judge": "rater", "kind": "text.kind"}
"""Roles of columns that labels.csv and attempts.csv name differently."""
_COUNTING_STATES = ("open", "submitted")
_NO_TRAINING = ("study", "gold")


def is_labels(headers: Collection[str]) -> bool:
    """Return whether a table is labels.csv of a campaign."""
    return {"worker", "rubric", "purpose", "state", "text", "text_sha256", "grade", "late"} <= {
        *headers
    }


def is_attempts(headers: Collection[str]) -> bool:
    """Return whether a table is attempts.csv of a judge."""
    return {"judge", "fingerprint", "topic", "text", "text_sha256", "grade", "counts"} <= {*headers}


def crux_long(files: Sequence[TableFile], constants: Mapping[str, str]) -> PresetTables:
    """Read the grades of a table of this site that count there.

    Grades of aggregates are computed, not read. Attempts name no rubric: it is a constant.
    """
    preset = PresetTables()
    for file in files:
        table = only_table(file)
        attempts = is_attempts(table.headers)
        if attempts and "rubric" not in constants:
            message = "names no rubric, as attempts have none: set rubric to that of the judge"
            raise PresetError(table.name, message)
        if not attempts and not is_labels(table.headers):
            for name in ("rater", "rubric", "text", "grade"):
                required(table, name, name)
        roles = {
            name: role
            for name, role in (_ROLES | _OTHER_NAMES).items()
            if name in table.headers and role not in constants
        }
        kind = {"rater.kind": "model"} if attempts else {}
        preset.add(derived(table, table.headers, _counting_rows), roles, kind | dict(constants))
    return preset


def _counting_rows(rows: Iterator[Row]) -> Iterator[Row]:
    for number, cells in rows:
        row = {name: _unescaped(cell) for name, cell in cells.items()}
        if _counts(row):
            yield number, row


def _counts(row: Mapping[str, Cell]) -> bool:
    """Return whether a row is a rating on the site that wrote it."""
    if "late" in row:
        is_work = row.get("purpose") in _NO_TRAINING and row.get("state") in _COUNTING_STATES
        return is_work and is_empty(row["late"])
    if "counts" in row:
        return str(row["counts"]).strip() in ("1", "1.0") and not is_empty(row.get("grade"))
    return row.get("rater_kind") != "aggregate"


def _unescaped(cell: Cell) -> Cell:
    is_escaped = isinstance(cell, str) and cell[:1] == "'" and cell[1:2] in _ESCAPED
    return cell[1:] if is_escaped and isinstance(cell, str) else cell
