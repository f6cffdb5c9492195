"""Mapping of a table's columns to roles, as mapping.json: parsing, checks and its JSON."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from annotation.errors import UserError
from annotation.formats.summary import quoted_value

VERSION = 1
ASK = "?"  # a role that a person must choose
MAX_TABLES = 100
SETTINGS = ("levels", "duplicates")  # set beside the roles, for the whole import


class Role(StrEnum):
    """Meaning of a column, or of a constant of a table."""

    TOPIC = "topic.id"
    REQUEST = "topic.request"
    GROUP = "topic.group"
    QUESTION = "question.text"
    QUESTION_NUMBER = "question.number"  # from 1
    QUESTION_INDEX = "question.index"  # from 0
    TEXT = "text.id"
    BODY = "text.body"
    KIND = "text.kind"
    SHA256 = "text.sha256"  # of a text that is in the dataset
    SYSTEM = "system"
    REPEAT = "repeat"
    RATER = "rater"
    RATER_KIND = "rater.kind"
    RUBRIC = "rubric"
    GRADE = "grade"
    COPIED_FROM = "copied_from"  # id of the text of equal words that was read
    COPIED_FROM_SYSTEM = "copied_from.system"
    VALUE = "value"
    MEASURE = "measure"
    COMMENT = "comment"
    TIME = "time"
    SPAN = "span"
    SPAN_START = "span.start"
    SPAN_END = "span.end"
    SPANS = "spans"
    RUN = "run"
    RANK = "rank"
    SCORE = "score"
    CONTEXTS = "contexts"
    CONTEXT_IDS = "context.ids"
    REFERENCE = "reference"
    GOLD = "gold"
    CITATIONS = "citations"
    IGNORE = "ignore"


PER_COLUMN = (Role.GRADE, Role.VALUE, Role.BODY, Role.GOLD, Role.COMMENT)
"""Roles that several columns of a table may have, each with constants of its own."""
TEXT_KINDS = ("passage", "report", "reference")
RATER_KINDS = ("human", "model", "baseline")


class MappingError(UserError):
    """Mapping that does not fit its form, or its file; the message names the part."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _constants_of_column(value: Any) -> Any:
    """Accept a role alone: "grade" is {"role": "grade"}."""
    return {"role": value} if isinstance(value, str) else value


class Column(_Part):
    """Role of a column, with constants that hold for it alone."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    role: str
    split: str = ""
    cut: list[float] | None = None
    scale: float | None = None

    @model_validator(mode="after")
    def _check(self) -> Column:
        if self.role not in [*Role, ASK]:
            raise ValueError(unknown_role(self.role))
        for name, value in (self.model_extra or {}).items():
            if name not in list(Role):
                raise ValueError(f"there is no role {quoted_value(name)}")
            if not isinstance(value, str | int | float):
                raise ValueError(f"{name} must be words or a number")
        return self

    @property
    def constants(self) -> dict[str, str]:
        return {name: str(value) for name, value in (self.model_extra or {}).items()}


def unknown_role(name: str) -> str:
    """Return the error about a role that does not exist, with the nearest one or all."""
    close = get_close_matches(name, list(Role), 1)
    hint = f"; did you mean {close[0]}?" if close else f". There are: {', '.join(Role)}"
    return f"there is no role {quoted_value(name)}{hint}"


def _as_strings(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: str(item) if isinstance(item, int | float) else item
            for name, item in value.items()
        }
    return value


HeaderRow = Annotated[int, Field(ge=1, le=1_048_576)]


class TableMapping(_Part):
    """Roles of the columns of one table, and how its file is read."""

    columns: dict[str, Annotated[Column, BeforeValidator(_constants_of_column)]]
    file: str = ""
    sheet: str = ""
    records: str = ""
    header: HeaderRow | Annotated[list[HeaderRow], Field(min_length=1, max_length=10)] | None = None
    until: str = ""
    encoding: str = ""
    delimiter: str = ""
    quote: str = ""
    decimal: Literal["", ".", ","] = ""
    missing: list[str] = []
    fill_down: list[str] = []
    passages_of: Literal["", "topic"] = ""
    constants: Annotated[dict[str, str], BeforeValidator(_as_strings)] = {}

    @model_validator(mode="after")
    def _check(self) -> TableMapping:
        check_text_settings(self.encoding, self.delimiter, self.quote)
        for name in self.constants:
            if name not in list(Role):
                raise ValueError(f"constants: there is no role {quoted_value(name)}")
        roles = [column.role for column in self.columns.values()]
        for role in {*roles} - {*PER_COLUMN, Role.IGNORE, ASK}:
            if roles.count(role) > 1:
                raise ValueError(f"two columns are {role}")
        if self.constants.get(Role.KIND, TEXT_KINDS[0]) not in TEXT_KINDS:
            raise ValueError(f"text.kind is one of {', '.join(TEXT_KINDS)}")
        if self.constants.get(Role.RATER_KIND, RATER_KINDS[0]) not in RATER_KINDS:
            raise ValueError(f"rater.kind is one of {', '.join(RATER_KINDS)}")
        return self

    @property
    def open_columns(self) -> list[str]:
        """Columns whose role a person must choose."""
        return [name for name, column in self.columns.items() if column.role == ASK]


Levels = list[int] | dict[str, int]


class NewRubric(_Part):
    """Rubric that an import creates. `levels` are grades, or words with their grades."""

    levels: Levels
    scale: Literal["ordinal", "nominal"] = "ordinal"
    eta: int | None = None
    title: str = ""
    question: str = ""
    guideline: str = ""
    span_from: int | None = None


def check_text_settings(encoding: str, delimiter: str, quote: str) -> None:
    """Raise ValueError for settings by which no text file can be read."""
    if encoding:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # refuses codecs that are of no text
        except (LookupError, ValueError) as error:
            raise ValueError(f"encoding: there is no {quoted_value(encoding)}") from error
    for name, sign in (("delimiter", delimiter), ("quote", quote)):
        if len(sign) > 1 or sign in ("\r", "\n", "\0"):
            raise ValueError(f"{name} must be one character, not {quoted_value(sign)}")
    if delimiter and delimiter == (quote or '"'):
        raise ValueError("delimiter and quote must be different characters")


class TableImport(_Part):
    """Whole mapping of an import."""

    version: int = VERSION
    tables: Annotated[list[TableMapping], Field(min_length=1, max_length=MAX_TABLES)]
    rubrics: dict[str, NewRubric] = {}
    duplicates: Literal["refuse", "first", "last"] = "refuse"

    def with_constants(self, constants: Mapping[str, str]) -> TableImport:
        """Return the mapping with these constants in each table; they win over its own.

        `levels` are those of the rubric that `rubric` names: "1-5", or words and numbers by commas.
        `duplicates` is that of the mapping. Raises MappingError.
        """
        constants = dict(constants)
        levels = constants.pop("levels", "")
        duplicates = constants.pop("duplicates", "")
        if unknown := [name for name in constants if name not in list(Role)]:
            raise MappingError(unknown_role(unknown[0]))
        value = self.as_json()
        for table in value["tables"]:
            table["constants"] = table.get("constants", {}) | constants
        if duplicates:
            value["duplicates"] = duplicates
        if levels:
            rubric = constants.get(Role.RUBRIC) or _only_rubric(self)
            value.setdefault("rubrics", {})[rubric] = value.get("rubrics", {}).get(rubric, {}) | {
                "levels": levels_of(levels)
            }
        return parse_mapping(value)

    def as_json(self) -> dict[str, Any]:
        """Return the mapping as JSON, without what has its default."""
        return self.model_dump(exclude_defaults=True) | {"version": VERSION}


def _only_rubric(mapping: TableImport) -> str:
    rubric_names = {
        table.constants[Role.RUBRIC] for table in mapping.tables if Role.RUBRIC in table.constants
    }
    if len(rubric_names) != 1:
        raise MappingError("levels are those of a rubric: name it, as rubric=NAME")
    return rubric_names.pop()


def levels_of(text: str) -> Levels:
    """Parse "1-5", "0,1,2" or "cold,warm" into levels. Raises MappingError."""
    if match := re.fullmatch(r"\s*(\d{1,4})\s*-\s*(\d{1,4})\s*", text):
        low, high = int(match[1]), int(match[2])
        if low < high <= low + 100:
            return list(range(low, high + 1))
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > 1 and all(part.isdecimal() for part in parts):
        return [int(part) for part in parts]
    if len(parts) > 1:
        return {part: number for number, part in enumerate(parts)}
    raise MappingError(
        f"{quoted_value(text)} are no levels: write 1-5, or 0,1,2, or words by commas"
    )


def parse_mapping(value: object) -> TableImport:
    """Return the mapping of a JSON value.

    Raises MappingError, which names the part that is wrong.
    """
    if isinstance(value, dict) and value.get("version", VERSION) != VERSION:
        raise MappingError(
            f"version {quoted_value(value['version'])} is unknown; this is {VERSION}"
        )
    try:
        return TableImport.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        location = ".".join(map(str, problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        raise MappingError(f"{location}: {message}" if location else message) from error


def read_mapping(text: str) -> TableImport:
    """Return the mapping of a mapping.json. Raises MappingError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MappingError(f"is broken JSON: {error}") from error
    return parse_mapping(value)


def column_header(name: str, headers: Sequence[str], table: str) -> str:
    """Return the header that a mapping names, compared without white space at its ends.

    Raises MappingError, with the nearest name, where there is none.
    """
    if name in headers:
        return name
    plain = " ".join(name.split())
    if plain in headers:
        return plain
    close = get_close_matches(plain, headers, 1)
    hint = f"; did you mean {quoted_value(close[0])}?" if close else "."
    listed = ", ".join(map(quoted_value, headers[:20]))
    raise MappingError(f"{table} has no column {quoted_value(name)}{hint} It has: {listed}.")
