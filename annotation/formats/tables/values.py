"""Values of cells: words, ids, numbers and grades of a scale."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time

from annotation.errors import UserError
from annotation.formats.summary import quoted_value
from annotation.formats.tables.cells import BrokenCell, Cell, CellProblem, FormattedNumber
from annotation.formats.tables.lists import ListError, is_list, items_of

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "#n/a", "<na>"})
"""Texts, in lower case, of a grade or number that is missing."""
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?", re.ASCII)  # 1.234,5
# Not 1,204, which may be a thousand.
_COMMA = re.compile(r"[+-]?(?![1-9]\d{0,2},\d{3}\s*%?\Z)\d+,\d+(?:[eE][+-]?\d+)?\s*%?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?P<fraction>\.\d+)?", re.ASCII)  # 1,234.5
_WORD_SIGNS = re.compile(r"[\s_-]+")
_NUMBER_SIGN = re.compile(
    r"(?:\A\s*-\s*|(?<=\d)[\s_-]+)(?=\d)"
)  # of -1 and 2-3, which are not 1 and 23
TRUE = frozenset(
    {
        *("true", "yes", "y", "pass", "passed"),
        # What spreadsheets and forms in other languages write: German, French, Spanish, Italian, Dutch.
        *("wahr", "ja", "vrai", "oui", "verdadero", "sí", "si", "vero", "sì", "waar"),
    }
)
FALSE = frozenset(
    {
        *("false", "no", "n", "fail", "failed"),
        *("falsch", "nein", "faux", "non", "falso", "onwaar", "nee"),
    }
)


class CellError(UserError):
    """Cell whose value does not fit its role."""


def check_cell(cell: Cell) -> None:
    """Raise CellError for a cell of a spreadsheet without a value."""
    if isinstance(cell, BrokenCell):
        if cell.problem is CellProblem.FORMULA:
            raise CellError(
                "holds a formula without a value: open the file in a spreadsheet program and save it again"
            )
        raise CellError(f"holds the error {cell.text}: correct the sheet and save it again")


def text_of(cell: Cell) -> str:
    """Return the text of a cell; a number as the cell shows it. Raises CellError."""
    check_cell(cell)
    match cell:
        case None:
            return ""
        case str():
            return cell
        case bool():
            return "true" if cell else "false"
        case FormattedNumber():
            return cell.display
        case int():
            return str(cell)
        case float():
            return "" if math.isnan(cell) else str(int(cell)) if cell.is_integer() else repr(cell)
        case datetime() | date() | time():
            return cell.isoformat()
    raise CellError("holds a list or an object where words are expected")


def name_of(cell: Cell) -> str:
    """Return a cell as an id or a name: without white space at its ends. Raises CellError."""
    return text_of(cell).strip()


def normal(names: str) -> str:
    """Return words as they are compared: NFC, single blanks, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", names).split())


def digest(names: str) -> str:
    """Return 16 hex digits of SHA-256 of words as they are compared."""
    return hashlib.sha256(normal(names).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_missing(cell: Cell, missing: Collection[str] = ()) -> bool:
    """Return whether a grade or number is missing: empty, NaN, or a text that says so."""
    if isinstance(cell, float):
        return math.isnan(cell)
    if cell is None:
        return True
    return isinstance(cell, str) and (
        cell.strip().casefold() in MISSING or cell.strip() in missing or cell in missing
    )


def number_of(cell: Cell, decimal: str = ".") -> float:
    """Return the number of a cell; 85 % is 0.85. Raises CellError."""
    check_cell(cell)
    if isinstance(cell, bool):
        return float(cell)
    if isinstance(cell, FormattedNumber):
        return float(cell.value)
    if isinstance(cell, int | float):
        if not math.isfinite(cell):
            raise CellError("is not a finite number")
        return float(cell)
    if isinstance(cell, datetime | date | time):
        raise _date_error(cell)
    text = _ascii_digits(text_of(cell).strip())
    is_percent = text.endswith("%")
    text = text.removesuffix("%").strip()
    if decimal == ",":
        if "." in text and not _GROUPED.fullmatch(text):
            raise CellError(f"must be a number with a decimal comma, not {quoted_value(cell)}")
        text = text.replace(".", "").replace(",", ".")
    elif grouped := _THOUSANDS.fullmatch(text):
        plain = text.replace(",", "")
        if not grouped["fraction"] and text.count(",") == 1:
            raise CellError(
                f"may be {plain} or {text.replace(',', '.')}: write it without a comma, or choose "
                "the comma as the decimal sign"
            )
        text = plain
    if not _NUMBER.fullmatch(text):
        raise CellError(f"must be a number, not {quoted_value(cell)}")
    value = float(text)
    if not math.isfinite(value):
        raise CellError("is not a finite number")
    return value / 100 if is_percent else value


def has_comma(cell: Cell) -> bool:
    """Return whether a cell is a text such as 0,5 or 85,5 %."""
    return isinstance(cell, str) and bool(_COMMA.fullmatch(cell.strip()))


def number_of_tool(cell: Cell) -> float:
    """Return the number of a cell, also with a decimal comma, as a spreadsheet saves it again.

    Raises CellError.
    """
    return number_of(cell, "," if has_comma(cell) else ".")


def _date_error(cell: datetime | date | time) -> CellError:
    day = cell.date() if isinstance(cell, datetime) else cell
    return CellError(
        f"is the date {day.isoformat()}; Excel makes dates of grades such as 2-3. Format the column as text "
        "and type the grades again."
    )


def _ascii_digits(text: str) -> str:
    return "".join(
        str(unicodedata.digit(sign)) if sign.isdigit() and not sign.isascii() else sign
        for sign in text
    )


def word_key(token: str) -> str:
    """Return a word as names of grades are compared: no case, blanks, - or _.

    Signs of numbers are kept.
    """
    signed = _NUMBER_SIGN.sub("\N{MINUS SIGN}", unicodedata.normalize("NFC", token))
    return _WORD_SIGNS.sub("", signed).casefold()


@dataclass(frozen=True)
class Scale:
    """Grades of a rubric, and the names, labels and numbers of its levels."""

    slug: str
    grades: tuple[int, ...]
    names: Mapping[str, int] = field(default_factory=dict)  # by word_key
    labels: Mapping[str, int] = field(default_factory=dict)
    """Of a multi-label rubric, the grade that each label makes alone, by its words."""

    @classmethod
    def of(cls, slug: str, levels: Iterable[tuple[int, Iterable[str]]]) -> Scale:
        """Return the scale of (grade, words) pairs; a word of two levels stands for neither."""
        grades: list[int] = []
        names: dict[str, int] = {}
        ambiguous: set[str] = set()
        for grade, labels in levels:
            grades.append(grade)
            for key in {word_key(label) for label in labels if label} - {""}:
                if names.setdefault(key, grade) != grade:
                    ambiguous.add(key)
        for key in ambiguous:
            del names[key]
        return cls(slug, tuple(sorted(grades)), names)

    def grade_of(self, cell: Cell, decimal: str = ".", scale: float | None = None) -> int:
        """Return the grade of a cell. `scale` turns a share into grades: 100 makes 85 % 85.

        Raises CellError, which lists the grades.
        """
        check_cell(cell)
        if isinstance(cell, datetime | date | time):
            raise _date_error(cell)
        if (labels := self._labels_in(cell)) is not None:
            return self._grade_of_labels(labels)
        if isinstance(cell, str) and (grade := self.names.get(word_key(cell))) is not None:
            return grade
        token = cell.strip().casefold() if isinstance(cell, str) else ""
        if isinstance(cell, bool) or token in TRUE | FALSE:
            if self.grades == (0, 1):
                return int(token in TRUE or cell is True)
            raise self._error(cell)
        try:
            value = number_of(cell, decimal) * (scale or 1)
        except CellError as error:
            raise self._error(cell) from error
        if scale:
            value = round(value, 9)
        if not value.is_integer() or int(value) not in self.grades:
            raise self._error(cell)
        return int(value)

    def _labels_in(self, cell: Cell) -> list[str] | None:
        """Return the labels of a list, or of a text under a multi-label rubric; else None."""
        value = list_in(cell) if self.labels else cell
        if isinstance(value, list):
            return [text_of(label) for label in value if isinstance(label, str | int | float)]
        if self.labels and isinstance(cell, str):
            return labels_in(cell, {word_key(label) for label in self.labels})
        return None

    def _grade_of_labels(self, labels: Sequence[str]) -> int:
        """Return the grade of a set of labels. Raises CellError."""
        if not self.labels and len(labels) == 1:
            return self.grade_of(labels[0])
        if not self.labels:
            raise CellError(several_answers(labels, f"{self.slug} takes one"))
        grades = {word_key(label): grade for label, grade in self.labels.items()}
        grade = 0
        for label in labels:
            if word_key(label) not in grades:
                listed = ", ".join(self.labels)
                raise CellError(f"{quoted_value(label)} is no label of {self.slug}: {listed}")
            grade |= grades[word_key(label)]
        return grade

    def _error(self, cell: Cell) -> CellError:
        if isinstance(cell, str) and not self.labels:
            labels = labels_in(cell, self.names) or []
            if len(labels) > 1:
                return CellError(several_answers(labels, f"{self.slug} takes one"))
        grades = [str(grade) for grade in self.grades]
        if len(grades) > 12 and self.grades == tuple(range(self.grades[0], self.grades[-1] + 1)):
            grades = [f"{grades[0]} to {grades[-1]}"]
        try:
            display = quoted_value(text_of(cell))
        except CellError:
            display = "a list or an object"
        listed = ", ".join(self.labels or grades)
        return CellError(f"{display} is no grade of {self.slug}: {listed}")


def list_in(cell: Cell) -> object:
    """Return the list in the text of a cell; another cell unchanged."""
    if not (isinstance(cell, str) and is_list(cell)):
        return cell
    try:
        return items_of(cell)
    except ListError as error:
        raise CellError(str(error)) from error


def several_answers(labels: Sequence[str], reason: str) -> str:
    """Return the error of a cell with several answers, with what to do."""
    return (
        f"holds several answers ({', '.join(labels)}), and {reason}: create a multi-label rubric "
        "with these labels on the page Rubrics, and set it as rubric=NAME"
    )


_BETWEEN_LABELS = re.compile(r"\s*(?:[;,|#\n]|\s\+\s)\s*")


def labels_in(text: str, keys: Collection[str]) -> list[str] | None:
    """Return the labels of a text that consists of them, separated as forms do; else None.

    `keys` are the labels by `word_key`. A label may have separators of its own.
    """
    text = text.strip()
    separators = [*_BETWEEN_LABELS.finditer(text)]
    starts = [0, *(match.end() for match in separators)]
    ends = [*(match.start() for match in separators), len(text)]
    labels: list[str] = []
    first = 0
    while first < len(starts):
        parts = (
            (last, text[starts[first] : ends[last]]) for last in range(len(ends) - 1, first - 1, -1)
        )
        match = next(((last, part) for last, part in parts if word_key(part) in keys), None)
        if match is None:
            return None
        labels.append(match[1])
        first = match[0] + 1
    return labels


def cut_grade(value: float, cuts: Iterable[float]) -> int:
    """Return the number of cuts that a value reaches: with 0.5, 0 below it and 1 from it on."""
    return sum(value >= cut for cut in cuts)
