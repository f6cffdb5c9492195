"""JSON and JSON lines as tables: objects as rows, nested objects as columns by their path."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.formats.content import JSON_COMMENT, UNREADABLE, begins_value, opened
from annotation.formats.tables.cells import Cell, SettingNeededError, TableError
from annotation.formats.tables.column_names import is_question, is_usual_name
from annotation.formats.tables.source import Row, Table, line_location

MAX_LINE = 64 * 2**20  # bytes
MAX_JSON = 512 * 2**20  # bytes of a file that is one JSON value: it is read as a whole
MAX_COLUMNS = 2_000
HEADER_ROWS = 1_000  # rows whose keys are offered as columns
MAX_DEPTH = 20
MAX_ARRAYS = 100  # that are offered as the records
_ABOVE = re.compile(rb"(?:[ \t\r]*(?:(?:#|//)[^\n]*)?\n)+")  # blank lines and comments
_BLANK = re.compile(r"\s+")
_SPLIT = {"columns", "data", "index", "index_names", "column_names"}  # of data frames
ID = "id"  # column of the keys of an object of rows
INDEX = "index"  # column of the keys of a data frame, as pandas calls it


def flattened(value: Mapping[str, Any]) -> dict[str, Cell]:
    """Return an object's values by path: {"a": {"b": 1}} is {"a.b": 1}. Raises TableError."""
    row: dict[str, Cell] = {}
    stack: list[tuple[str, Any, int]] = [
        (str(key), item, 1) for key, item in reversed(list(value.items()))
    ]
    while stack:
        path, item, depth = stack.pop()
        if isinstance(item, dict) and item and depth < MAX_DEPTH:
            stack += [
                (f"{path}.{key}", nested, depth + 1) for key, nested in reversed(item.items())
            ]
        else:
            row[path] = item
            if len(row) > MAX_COLUMNS:
                raise TableError(f"has more than {MAX_COLUMNS:,} values in one object")
    return row


def json_lines_table(path: Path, file: str) -> Table:
    """Return the table of a file with one JSON object a line. Raises TableError, OSError."""

    def rows() -> Iterator[Row]:
        for number, value in _lines(path):
            if not isinstance(value, dict):
                raise TableError("is no JSON object", f":{number}")
            yield number, flattened(value)

    return Table(file, "", headers_of(rows()), rows, line_location)


def json_table(path: Path, file: str, records: str = "") -> Table:
    """Return the table of an array of objects in a JSON file, at the path `records` within it.

    Without a path the array is found if there is only one; a data frame may also be an object of columns.
    Raises TableError, OSError.
    """
    value = json_value(path)
    if not records and (by_column := _rows_of_columns(value)):
        rows_of_columns = [*enumerate(map(flattened, by_column), 1)]
        headers = headers_of(iter(rows_of_columns))
        return Table(file, "", headers, lambda: iter(rows_of_columns), _row_location)
    objects, array_path = _array(value, records)

    def rows() -> Iterator[Row]:
        for index, item in enumerate(objects):
            if not isinstance(item, dict):
                raise TableError("is no JSON object", location_of(index + 1, ""))
            yield index + 1, flattened(item)

    def location_of(row: int, header: str) -> str:
        name = f".{header}" if header else ""
        return f": {array_path}[{row - 1}]{name}" if array_path else f": [{row - 1}]{name}"

    return Table(file, "", headers_of(rows()), rows, location_of)


def json_value(path: Path) -> Any:
    """Return the value of a JSON file. Raises TableError, OSError."""
    try:
        with opened(path) as file:
            data = file.read(MAX_JSON + 1)
    except (EOFError, zlib.error) as error:
        raise TableError(f"cannot be read: {error}") from error
    if len(data) > MAX_JSON:
        raise TableError(f"has more than {MAX_JSON:,} bytes; write it as JSON lines")
    data = data.removeprefix(b"\xef\xbb\xbf")
    comments = _ABOVE.match(data)
    if comments:  # the lines of errors stay right
        data = b"\n" * comments[0].count(b"\n") + data[comments.end() :]
    return _decoded(data, "", reads_objects=True)


def _objects(text: str) -> list[dict[str, Any]]:
    """Return the objects that follow each other in a text. Raises ValueError for another text."""
    decoder = json.JSONDecoder()
    objects: list[dict[str, Any]] = []
    position = _next(text, 0)
    while position < len(text):
        value, end = decoder.raw_decode(text, position)
        if not isinstance(value, dict):
            raise json.JSONDecodeError("Extra data", text, position)
        objects.append(value)
        position = _next(text, end)
    return objects


def _next(text: str, position: int) -> int:
    """Return the position of the next character that is no white space."""
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def is_json_lines(path: Path) -> bool:
    """Return whether the first line of a file is a JSON object by itself."""
    try:
        with opened(path) as file:
            first = file.readline(MAX_LINE).removeprefix(b"\xef\xbb\xbf").strip()
            while not first or JSON_COMMENT.match(first):
                line = file.readline(MAX_LINE)
                first = line.strip()
                if not line:
                    break
            has_more = file.read(1)
        value = json.loads(first)
    except (ValueError, OSError, EOFError, zlib.error, RecursionError):
        return False
    # One object alone is a line unless it wraps a list of rows.
    return isinstance(value, dict) and (
        bool(has_more) or not (_arrays(value) or _rows_of_columns(value))
    )


def is_json(path: Path) -> bool:
    """Return whether a file of any name holds JSON or JSON lines."""
    if is_json_lines(path):
        return True
    try:
        return begins_value(path) and isinstance(json_value(path), list | dict)
    except (TableError, *UNREADABLE):
        return False


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    is_above = True
    try:
        with opened(path) as file:
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise TableError(f"a line of more than {MAX_LINE:,} bytes", f":{number}")
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if is_above and JSON_COMMENT.match(line):
                    continue
                if line.strip():
                    is_above = False
                    yield number, _decoded(line, f":{number}")
    except (EOFError, zlib.error) as error:
        raise TableError(f"cannot be read: {error}", f":{number}") from error


def _decoded(data: bytes, location: str, *, reads_objects: bool = False) -> Any:
    """Return a JSON value, or a list of the objects that follow each other. Raises TableError."""
    try:
        try:
            return json.loads(data)  # NaN and Infinity too: data frames write them
        except json.JSONDecodeError as error:
            follows_object = error.msg == "Extra data" and error.doc[_next(error.doc, 0)] == "{"
            if not reads_objects or not follows_object:
                raise
            return _objects(error.doc)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8: byte {data[error.start]:#x}. Save it as UTF-8"
        raise TableError(message, location or f":{line}") from error
    except RecursionError as error:
        raise TableError("is nested too deep", location) from error
    except json.JSONDecodeError as error:
        message = f"is broken JSON: {error.msg} (column {error.colno})"
        raise TableError(message, location or f":{error.lineno}") from error
    except ValueError as error:
        raise TableError(f"is broken JSON: {error}", location) from error


def _array(value: Any, records: str) -> tuple[list[Any], str]:
    if records:
        for key in records.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, list):
            raise TableError(f"has no array at {records}")
        return value, records
    if isinstance(value, list):
        return value, ""
    arrays = _arrays(value)
    if [path for path, _ in arrays] == ["schema.fields", "data"]:  # a data frame with its schema
        arrays = arrays[1:]
    if len(arrays) == 1:
        return arrays[0][1], arrays[0][0]
    if not arrays:
        raise TableError("has no array of objects")
    paths = [path for path, _ in arrays[:MAX_ARRAYS]]
    first_paths = ", ".join(paths[:10])
    message = f"has several arrays ({first_paths}): choose one as the path of the records"
    raise SettingNeededError(message, "records", paths)


def _arrays(value: Any, path: str = "", depth: int = 0) -> list[tuple[str, list[Any]]]:
    """Return the arrays of objects within objects, by path."""
    if isinstance(value, list):
        return [(path, value)] if value and all(isinstance(item, dict) for item in value) else []
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return []
    return [
        array
        for key, item in value.items()
        for array in _arrays(item, f"{path}.{key}" if path else str(key), depth + 1)
    ]


def _rows_of_columns(value: Any) -> list[dict[str, Any]]:
    """Return the rows of a data frame that is one object; [] for another value.

    Such as {"a": {"0": 1, "1": 2}} (columns), {"0": {"a": 1}} (rows by number), {"a": [1, 2], "b": [3, 4]}
    (lists), and {"columns": ["a"], "index": [0, 1], "data": [[1], [2]]}.
    """
    if not isinstance(value, dict) or not value:
        return []
    if {"columns", "data"} <= value.keys() <= _SPLIT:
        columns, rows = value["columns"], value["data"]
        if not all(isinstance(part, list) for part in (columns, rows)):
            return []
        index = value.get("index")
        index = index if isinstance(index, list) else []
        if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
            return []
        names = [*map(str, columns)]
        return _with_index(index, [dict(zip(names, row, strict=True)) for row in rows])
    parts = [*value.values()]
    if all(isinstance(part, list) for part in parts):
        if len(parts) < 2 or {*map(len, parts)} != {len(parts[0])} or _arrays(value):
            return []
        return [dict(zip(value, cells, strict=True)) for cells in zip(*parts, strict=True)]
    if by_key := _rows_by_key(value):
        return by_key
    if not all(isinstance(part, dict) and part.keys() == parts[0].keys() for part in parts):
        return []
    if all(map(str.isdecimal, value)):
        return _with_index([*value], parts)
    has_names = any(map(is_usual_name, value)) and not any(map(is_usual_name, parts[0]))
    if len(value) < 2 or not (has_names or all(map(str.isdecimal, parts[0]))):
        return []
    rows = [{name: part[row] for name, part in value.items()} for row in parts[0]]
    return _with_index([*parts[0]], rows)


def _rows_by_key(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object of rows by id, as {"q1": {"question": "Why?", ...}, ...}.

    Rows share several keys, of which one is a usual name of a column; [] for another object. Rows with
    objects in their cells may be tables, and rows with few questions those of systems.
    """
    parts = [part for part in value.values() if isinstance(part, dict)]
    if len(parts) < len(value) or len(value) < 2 or all(map(str.isdecimal, value)):
        return []
    common = set(parts[0]).intersection(*parts)
    if len(common) < 2 or not any(map(is_usual_name, common)) or any(map(is_usual_name, value)):
        return []
    if any(_has_objects(cell) for part in parts for cell in part.values()):
        return []
    questions = [{str(part[key]) for part in parts} for key in filter(is_question, common)]
    if questions and 2 * max(map(len, questions)) <= len(parts):
        return []
    return [{ID: key} | part for key, part in value.items()]


def _has_objects(cell: Any) -> bool:
    return isinstance(cell, dict) or (
        isinstance(cell, list) and any(isinstance(item, dict) for item in cell)
    )


def _with_index(index: list[Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with a column of their keys, unless these only number the rows."""
    keys = [*map(str, index)]
    if len(keys) != len(rows) or keys == [*map(str, range(len(rows)))]:
        return rows
    return [{INDEX: key} | row for key, row in zip(keys, rows, strict=True)]


def _row_location(row: int, header: str) -> str:
    return f": row {row}"


def headers_of(rows: Iterator[Row]) -> tuple[str, ...]:
    """Return the keys of the first rows, in order. Raises TableError where there are none."""
    names: dict[str, None] = {}
    for _, row in islice(rows, HEADER_ROWS):
        names.update(dict.fromkeys(row))
        if len(names) > MAX_COLUMNS:
            raise TableError(f"has more than {MAX_COLUMNS:,} columns")
    if not names:
        raise TableError("has no rows")
    return tuple(names)
