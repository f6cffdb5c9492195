"""Prolific's list of a study's submissions, its demographic export (CSV). Earlier names are read too."""

import csv
import io
from dataclasses import dataclass

COLUMNS = {
    "Submission id": ("submission id", "session_id"),
    "Participant id": ("participant id", "participant_id"),
    "Status": ("status",),
    "Completion code": ("completion code", "entered_code"),
}
KNOWN = (
    *("RESERVED", "ACTIVE", "TIMED OUT", "AWAITING REVIEW", "APPROVED", "RETURNED", "REJECTED"),
    *("SCREENED OUT", "PARTIALLY APPROVED"),
)
MAX_PROBLEMS = 10


class BadExportError(Exception):
    """A file that is no such export; each problem names its line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Submission:
    """A row of Prolific's list."""

    pk: str
    person: str
    status: str
    code: str


def read(raw: bytes) -> list[Submission]:
    """The submissions of Prolific's export. Columns that are not needed are passed over.

    Raises BadExportError where a needed column is missing, or a line is broken; all or nothing.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BadExportError(
            [f"Line {line}: not UTF-8 text. Prolific's export is a CSV."]
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    problems: list[str] = []
    submissions: dict[str, Submission] = {}
    try:
        head = next(reader, [])
        places = _places(head)
        for cells in reader:
            if not any(cells):
                continue
            if problem := _problem(cells, head, places, submissions):
                problems.append(f"Line {reader.line_num}: {problem}")
                if len(problems) == MAX_PROBLEMS:
                    problems.append("There may be more; reading ended here.")
                    break
                continue
            values = {name: cells[place].strip() for name, place in places.items()}
            submissions[values["Submission id"]] = Submission(
                values["Submission id"],
                values["Participant id"],
                _status(values["Status"]),
                values["Completion code"],
            )
    except csv.Error as error:
        problems.append(f"Line {reader.line_num}: broken CSV: {error}.")
    if problems:
        raise BadExportError(problems)
    return list(submissions.values())


def _places(head: list[str]) -> dict[str, int]:
    names = [name.strip().lower() for name in head]
    places = {
        column: names.index(name)
        for column, accepted in COLUMNS.items()
        for name in accepted
        if name in names
    }
    if missing := [f"“{column}”" for column in COLUMNS if column not in places]:
        raise BadExportError([f"Line 1: the column {', '.join(missing)} is missing."])
    return places


def _problem(
    cells: list[str], head: list[str], places: dict[str, int], submissions: dict[str, Submission]
) -> str:
    if len(cells) != len(head):
        return f"{len(cells)} cells, where the first line has {len(head)}."
    for column in ("Submission id", "Participant id", "Status"):
        if not cells[places[column]].strip():
            return f"“{column}” is empty."
    if (pk := cells[places["Submission id"]].strip()) in submissions:
        return f"the submission {pk[:60]} is there twice."
    status = cells[places["Status"]].strip()
    if _status(status) not in KNOWN:
        return f"the status {status[:60]!r} is none of Prolific's."
    return ""


def _status(value: str) -> str:
    return value.strip().upper().replace("-", " ").replace("_", " ")
