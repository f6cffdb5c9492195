"""Prolific's export of a study's submissions (CSV), with current or older column names.

As downloaded, or as saved again by a spreadsheet: with commas, semicolons or tabs, a first line
`sep=;`, in UTF-8, UTF-16 or Windows-1252.
"""

import codecs
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from annotation.errors import UserError

COLUMNS = {
    "Submission id": ("submission id", "session_id"),
    "Participant id": ("participant id", "participant_id"),
    "Status": ("status",),
    "Completion code": ("completion code", "entered_code"),
}
OPTIONAL_COLUMNS = {"Reviewed at": ("reviewed at", "reviewed_at_datetime")}
KNOWN_STATUSES = (
    *("RESERVED", "ACTIVE", "TIMED OUT", "AWAITING REVIEW", "APPROVED", "RETURNED", "REJECTED"),
    *("SCREENED OUT", "PARTIALLY APPROVED"),
)
DELIMITERS = ",;\t"
DELIMITER_LINE = re.compile(r'sep=([^"\w\s]|\t)\r?', re.IGNORECASE)
MAX_PROBLEMS = 10


class ProlificExportError(UserError):
    """An invalid export file; each problem names its line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Submission:
    """A row of Prolific's list. Its status may be unknown here."""

    pk: str
    person: str
    status: str
    code: str
    reviewed: datetime | None = None

    @property
    def has_known_status(self) -> bool:
        return self.status in KNOWN_STATUSES

    def has_code(self, code: str) -> bool:
        """Return whether this code was submitted, in capitals or not: people type it."""
        return self.code.strip().casefold() == code.strip().casefold()


def read(raw: bytes) -> list[Submission]:
    """Parse the submissions of Prolific's export. Other columns are ignored.

    Raises ProlificExportError where a needed column is missing, or a line is broken; all or nothing.
    """
    text, first, delimiter = _split_header(_decoded(raw))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    problems: list[str] = []
    submissions: dict[str, Submission] = {}
    try:
        head = next(reader, [])
        columns = _column_indexes(head)
        if missing := [
            f"“{missing_column}”" for missing_column in COLUMNS if missing_column not in columns
        ]:
            problems.append(f"Line {first + 1}: the column {', '.join(missing)} is missing.")
            raise ProlificExportError(problems)
        columns |= _column_indexes(head, OPTIONAL_COLUMNS)
        for cells in reader:
            if not any(cells):
                continue
            if problem := _problem(cells, head, columns, submissions):
                problems.append(f"Line {first + reader.line_num}: {problem}")
                if len(problems) == MAX_PROBLEMS:
                    problems.append("There may be more; reading ended here.")
                    break
                continue
            values = {name: cells[column].strip() for name, column in columns.items()}
            submissions[_id(values["Submission id"])] = Submission(
                _id(values["Submission id"]),
                _id(values["Participant id"]),
                _status(values["Status"]),
                values["Completion code"],
                _moment(values.get("Reviewed at", "")),
            )
    except csv.Error as error:
        problems.append(f"Line {first + reader.line_num}: broken CSV: {error}.")
    if problems:
        raise ProlificExportError(problems)
    return list(submissions.values())


def _decoded(raw: bytes) -> str:
    """Decode a file in one of the encodings that spreadsheets write."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    elif b"\0" in raw[:200]:
        encodings = ["utf-16-le" if raw[1:2] == b"\0" else "utf-16-be"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ProlificExportError(
        ["Line 1: not text. Prolific's export is a CSV; save a spreadsheet as one."]
    )


def _split_header(text: str) -> tuple[str, int, str]:
    """Return the table, the number of lines before it, and its delimiter."""
    head, _, table = text.partition("\n")
    if match := DELIMITER_LINE.fullmatch(head):
        return table, 1, match[1]
    # Column names contain no delimiter, so quotes need no parsing here.
    by_columns = {d: len(_column_indexes(head.replace('"', "").split(d))) for d in DELIMITERS}
    return text, 0, max(DELIMITERS, key=lambda d: by_columns[d])


def _column_indexes(
    head: list[str], columns: Mapping[str, tuple[str, ...]] = COLUMNS
) -> dict[str, int]:
    names = [name.strip().lower() for name in head]
    return {
        column: names.index(name)
        for column, accepted in columns.items()
        for name in accepted
        if name in names
    }


def _problem(
    cells: list[str], head: list[str], columns: dict[str, int], submissions: dict[str, Submission]
) -> str:
    if len(cells) != len(head):
        return f"{len(cells)} cells, where the first line has {len(head)}."
    for column in ("Submission id", "Participant id", "Status"):
        if not cells[columns[column]].strip():
            return f"“{column}” is empty."
    if (pk := _id(cells[columns["Submission id"]])) in submissions:
        return f"the submission {pk[:60]} is there twice."
    return ""


def _id(value: str) -> str:
    """Return a normalised id: hexadecimal digits, which a spreadsheet may capitalise."""
    return value.strip().lower()


def _moment(value: str) -> datetime | None:
    """Parse a time as Prolific writes it; None for any other form, and for an empty one."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _status(value: str) -> str:
    return value.strip().upper().replace("-", " ").replace("_", " ")
