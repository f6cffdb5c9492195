"""JSON Lines reader: one JSON object a line, one line at a time."""

import json
import zlib
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from annotation.formats.content import JSON_COMMENT, is_columns_comment, opened
from annotation.formats.kinds import Kind
from annotation.formats.layout import Source
from annotation.formats.left_out_rows import Part, RowPosition
from annotation.formats.records import Row
from annotation.formats.summary import Conversion, quoted_value
from annotation.formats.translation import (
    DECODER,
    Counted,
    InvalidFileError,
    Skipped,
    Translation,
    UnreadableRow,
)

if TYPE_CHECKING:
    from annotation.formats.target import Target

MAX_LINE = 64 * 2**20  # bytes; a file without line ends would else be read into memory whole
_ERRORS_OF_A_LINE = 3
_TELL = 2000  # lines between two calls of the progress

Shape = TypeVar("Shape", bound=Row)


def lines(
    target: "Target", source: Source, *, is_repeat: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; errors are noted.

    Blank lines are left out, and comments above the first line. `is_repeat` for a second reading: its
    lines are not counted once more.
    """
    summary = target.summary.file(source.name)
    is_comment = is_columns_comment if _has_columns(source) else JSON_COMMENT.match
    number = 0
    is_above = True
    try:
        with opened(source.path) as file:
            while raw := file.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    target.problem(source, number, "", f"a line of more than {MAX_LINE} bytes")
                    return
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                if is_above and is_comment(raw):
                    target.summary.mapped[Conversion.COMMENTS] += not is_repeat
                    continue
                try:
                    text = raw.decode()
                except UnicodeDecodeError as error:
                    message = f"not UTF-8: byte {raw[error.start]:#x} at column {error.start + 1}"
                    target.problem(source, number, "", message)
                    continue
                if text.strip():
                    is_above = False
                    summary.read += not is_repeat
                    yield number, text
                if number % _TELL == 0:
                    target.progress(source, number)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        target.problem(source, number, "", f"cannot be read: {reason}")
    target.progress(source, number)


def _has_columns(source: Source) -> bool:
    return source.kind is Kind.RUN or bool(source.translation and source.translation.columns)


def rows(
    target: "Target", source: Source, shape: type[Shape], *, is_repeat: bool = False
) -> Iterator[tuple[int, Shape]]:
    """Yield the rows of a file that match the shape; errors in the others are noted."""
    if source.translation:
        yield from _translated(
            target, source, source.translation, is_repeat=is_repeat or source.again
        )
        return
    for number, text in lines(target, source, is_repeat=is_repeat):
        if row := parsed(target, source, number, text, shape):
            yield number, row


def _translated(
    target: "Target", source: Source, translation: Translation, *, is_repeat: bool
) -> Iterator[tuple[int, Any]]:
    """Yield our rows from the lines of another format.

    Their shape depends on the kind of the source, which the caller knows.
    """
    n = 0
    values = _values(target, source, translation, is_repeat=is_repeat)
    for n, (number, shares_line, value) in enumerate(_with_neighbours(values), 1):
        if not is_repeat:
            target.units[source.name] = n
        item = n if translation.parts or (source.leaves_out and shares_line) else 0
        for part in translation.parts(value) if translation.parts else (Part(value),):
            position = RowPosition(number, item, part, n)
            if not target.is_left_out(source, position):
                yield from _our_rows(target, source, translation, position)
    if not n and not is_repeat and not target.problems and not translation.may_be_empty:
        target.problem(source, 0, "", "is empty")


def _with_neighbours(
    values: Iterator[tuple[int, Any]],
) -> Iterator[tuple[int, bool, Any]]:
    """Yield each value with its line, and whether another value begins on the same line."""
    before = 0
    for (number, value), following in pairwise(chain(values, (None,))):  # type: ignore[misc]
        yield number, number in (before, following and following[0]), value
        before = number


def _our_rows(
    target: "Target", source: Source, translation: Translation, position: RowPosition
) -> Iterator[tuple[int, Any]]:
    value = position.part.value
    if isinstance(value, UnreadableRow):
        target.problem(source, position, "", value.message)
    elif not isinstance(value, dict):
        target.problem(source, position, "", f"expected a JSON object, not {quoted_value(value)}")
    elif row := validated(target, source, position, value, translation.shape):
        n = 0
        for our_row in translation.into(row):
            if isinstance(our_row, Counted):
                target.summary.mapped[our_row.label] += 1
            elif isinstance(our_row, Skipped):
                target.leave_out(source, position, our_row.label)
            else:
                n += 1
                if n == 2 and source.leaves_out:
                    target.begun.add((source.name, position.unit))
                yield position, our_row


def _values(
    target: "Target", source: Source, translation: Translation, *, is_repeat: bool
) -> Iterator[tuple[int, Any]]:
    if translation.values:
        yield from _from_table(target, source, translation.values, is_repeat=is_repeat)
        return
    is_first = True
    for number, text in lines(target, source, is_repeat=is_repeat):
        is_header = is_first and bool(translation.columns) and translation.is_header(text)
        is_first = False
        if not translation.columns:
            yield number, _json_row(target, source, number, text)
        elif not is_header:
            try:
                yield number, translation.split(text)
            except ValueError as error:
                yield number, UnreadableRow(str(error))


def _json_row(target: "Target", source: Source, number: int, text: str) -> Any:
    """Return the value of a line, or UnreadableRow; a file cut within a line is refused."""
    try:
        return decoded(text)
    except ValueError as error:
        if not text.endswith("\n"):
            target.problem(source, number, "", str(error))
        return UnreadableRow(str(error))


def _from_table(
    target: "Target",
    source: Source,
    values: Callable[[Path], Iterator[tuple[int, Any]]],
    *,
    is_repeat: bool,
) -> Iterator[tuple[int, Any]]:
    summary = target.summary.file(source.name)
    number = 0
    try:
        for number, value in values(source.path):
            summary.read += not is_repeat
            yield number, value
            if number % _TELL == 0:
                target.progress(source, number)
    except InvalidFileError as error:
        target.problem(source, error.line, "", str(error))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        message = f"cannot be read: {' '.join(str(error).split())}"
        target.problem(source, number, "", message)
    target.progress(source, number)


def parsed(
    target: "Target", source: Source, number: int, text: str, shape: type[Shape]
) -> Shape | None:
    """Return a JSON object of this shape; None, with the errors noted, if it does not match."""
    value = json_object(target, source, number, text)
    return None if value is None else validated(target, source, number, value, shape)


def json_object(target: "Target", source: Source, number: int, text: str) -> dict[str, Any] | None:
    try:
        value = decoded(text)
    except ValueError as error:
        target.problem(source, number, "", str(error))
        return None
    if not isinstance(value, dict):
        target.problem(source, number, "", f"expected a JSON object, not {quoted_value(value)}")
        return None
    return value


def decoded(text: str) -> Any:
    """Return the JSON value of a line. Raises ValueError with a message for people."""
    try:
        # Only loads() has a clear error for a byte order mark within a file.
        return json.loads(text) if text[0] == "\ufeff" else DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"broken JSON: {error}") from error


def validated(
    target: "Target", source: Source, number: int, value: dict[str, Any], shape: type[Shape]
) -> Shape | None:
    try:
        row: Shape = shape.__pydantic_validator__.validate_python(value)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        for problem in errors[: 1 if source.leaves_out else _ERRORS_OF_A_LINE]:
            field = ".".join(_printable(part) for part in problem["loc"])
            target.problem(source, number, field, _message(problem))
        return None
    return row


def _printable(part: int | str) -> str:
    return str(part) if isinstance(part, int) or part.isprintable() else ascii(part)


def _message(error: Any) -> str:
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "string_unicode":
        return "holds half of a surrogate pair, which is no character"
    message = error["msg"].removeprefix("Value error, ")
    return f"{message}, not {quoted_value(error['input'])}"
