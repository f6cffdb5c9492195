"""Prolific's list of a study's submissions, its demographic export (CSV). Earlier names are read too.

As it came, or as a spreadsheet saved it again: with commas, semicolons or tabs, a first line `sep=;`, in UTF-8,
UTF-16 or Windows-1252.
"""

import codecs
import csv
import io
import re
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
DELIMITERS = ",;\t"
SAYS_DELIMITER = re.compile(r'sep=([^"\w\s]|\t)\r?', re.IGNORECASE)
MAX_PROBLEMS = 10


class BadExportError(Exception):
    """A file that is no such export; each problem names its line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Submission:
    """A row of Prolific's list. A status may be one that nobody here has heard of."""

    pk: str
    person: str
    status: str
    code: str

    @property
    def has_known_status(self) -> bool:
        return self.status in KNOWN


def read(raw: bytes) -> list[Submission]:
    """The submissions of Prolific's export. Columns that are not needed are passed over.

    Raises BadExportError where a needed column is missing, or a line is broken; all or nothing.
    """
    text, first, delimiter = _opened(_decoded(raw))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    problems: list[str] = []
    submissions: dict[str, Submission] = {}
    try:
        head = next(reader, [])
        places = _places(head)
        if missing := [f"“{column}”" for column in COLUMNS if column not in places]:
            problems.append(f"Line {first + 1}: the column {', '.join(missing)} is missing.")
            raise BadExportError(problems)
        for cells in reader:
            if not any(cells):
                continue
            if problem := _problem(cells, head, places, submissions):
                problems.append(f"Line {first + reader.line_num}: {problem}")
                if len(problems) == MAX_PROBLEMS:
                    problems.append("There may be more; reading ended here.")
                    break
                continue
            values = {name: cells[place].strip() for name, place in places.items()}
            submissions[_id(values["Submission id"])] = Submission(
                _id(values["Submission id"]),
                _id(values["Participant id"]),
                _status(values["Status"]),
                values["Completion code"],
            )
    except csv.Error as error:
        problems.append(f"Line {first + reader.line_num}: broken CSV: {error}.")
    if problems:
        raise BadExportError(problems)
    return list(submissions.values())


def _decoded(raw: bytes) -> str:
    """The words of a file in one of the encodings that spreadsheets write."""
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
    raise BadExportError(
        ["Line 1: not text. Prolific's export is a CSV; save a spreadsheet as one."]
    )


def _opened(text: str) -> tuple[str, int, str]:
    """The table, how many lines come before it, and what parts its cells."""
    head, _, rest = text.partition("\n")
    if told := SAYS_DELIMITER.fullmatch(head):
        return rest, 1, told[1]
    # Names of columns hold no delimiter, so quotes need not be understood here.
    by_columns = {d: len(_places(head.replace('"', "").split(d))) for d in DELIMITERS}
    return text, 0, max(DELIMITERS, key=lambda d: by_columns[d])


def _places(head: list[str]) -> dict[str, int]:
    names = [name.strip().lower() for name in head]
    return {
        column: names.index(name)
        for column, accepted in COLUMNS.items()
        for name in accepted
        if name in names
    }


def _problem(
    cells: list[str], head: list[str], places: dict[str, int], submissions: dict[str, Submission]
) -> str:
    if len(cells) != len(head):
        return f"{len(cells)} cells, where the first line has {len(head)}."
    for column in ("Submission id", "Participant id", "Status"):
        if not cells[places[column]].strip():
            return f"“{column}” is empty."
    if (pk := _id(cells[places["Submission id"]])) in submissions:
        return f"the submission {pk[:60]} is there twice."
    return ""


def _id(value: str) -> str:
    """Ids there are numbers to the base 16, and a spreadsheet may write such digits in capitals."""
    return value.strip().lower()


def _status(value: str) -> str:
    return value.strip().upper().replace("-", " ").replace("_", " ")
