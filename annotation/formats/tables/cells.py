"""Types of cells: values, dates, numbers with a format, cells without a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum

from annotation.errors import UserError


class CellProblem(StrEnum):
    """Reason why a cell of a spreadsheet has no value that can be read."""

    FORMULA = "formula"  # a formula without a stored value
    ERROR = "error"  # an error value, such as #DIV/0!


@dataclass(frozen=True, slots=True)
class BrokenCell:
    """Cell without a value; `text` is the formula or the error value."""

    problem: CellProblem
    text: str


@dataclass(frozen=True, slots=True)
class FormattedNumber:
    """Number whose format shows it in another way: 7 as 00007, 0.85 as 85 %."""

    value: float
    display: str


Cell = (
    str
    | int
    | float
    | bool
    | datetime
    | date
    | time
    | FormattedNumber
    | BrokenCell
    | list[object]
    | dict[str, object]
    | None
)
"""Value of a cell; None where it is empty. Lists and objects come from JSON and Parquet."""

Record = tuple[int, Sequence[Cell]]
"""Number of a row or line, from 1, and its cells."""


class TableError(UserError):
    """File that cannot be read as a table; `location` is where, after the file's name."""

    def __init__(self, message: str, location: str = "") -> None:
        super().__init__(message)
        self.location = location


class SettingNeededError(TableError):
    """File that can be read in several ways: `setting` of its mapping says which."""

    def __init__(
        self, message: str, setting: str, choices: Sequence[str], location: str = ""
    ) -> None:
        super().__init__(message, location)
        self.setting = setting
        self.choices = tuple(choices)
