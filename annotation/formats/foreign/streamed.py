"""Streaming JSON reader: [item, ...], {name: value, ...} or {name: [item, ...], ...}."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

from annotation.formats.translation import DECODER, NAN_DECODER, InvalidFileError

MAX_VALUE = (
    64 * 2**20
)  # characters; a file without an end to its first value would else be in memory whole
_CHUNK = 2**16
_BLANK = " \t\r\n"
_END = 6  # characters: an escape that is cut off is told where it begins


def values(path: Path, *, allows_nan: bool = False) -> Iterator[tuple[int, str, Any]]:
    """Yield each value with its first line and its name; items of a list share its name.

    Items of a list without a name have "". Raises OSError, EOFError, zlib.error, and Broken with
    the line.
    """
    with _opened(path) as file:
        text = _Text(file, NAN_DECODER if allows_nan else DECODER)
        text.skip_comments()
        if text.peek() == "[":
            yield from ((line, "", value) for line, value in _items(text))
        elif text.peek() == "{":
            yield from _members(text)
        else:
            raise InvalidFileError(text.line, "expected a JSON object or a list")
        if text.peek():
            is_lines = text.peek() == "{"
            hint = "; name a file .jsonl if each of its lines is an object" if is_lines else ""
            raise InvalidFileError(text.line, f"something after its end: {text.peek()!r}{hint}")


def items(
    path: Path, names: Collection[str], *, allows_nan: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield the items of a list, or of the lists under these names, with their first lines.

    Raises as `values`.
    """
    members = values(path, allows_nan=allows_nan)
    return ((line, value) for line, name, value in members if not name or name in names)


def objects(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the items of a list, or the values that follow each other, with their first lines.

    Raises as `values`.
    """
    with _opened(path) as file:
        text = _Text(file)
        text.skip_comments()
        if text.peek() != "[":
            while text.peek():
                yield text.value()
            return
        yield from _items(text)
        if text.peek():
            raise InvalidFileError(text.line, f"something after its end: {text.peek()!r}")


def first_name(path: Path) -> str:
    """Return the first key of an object, or "" if the file does not begin as one.

    Raises as `values`.
    """
    with _opened(path) as file:
        text = _Text(file)
        text.skip_comments()
        if text.peek() != "{":
            return ""
        text.take("{")
        return str(text.value()[1]) if text.peek() == '"' else ""


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _members(text: _Text) -> Iterator[tuple[int, str, Any]]:
    names: set[str] = set()
    for _ in text.parts("{", "}"):
        line, name = text.value()
        if not isinstance(name, str):
            raise InvalidFileError(line, "expected the name of a value")
        if name in names:
            raise InvalidFileError(line, f"key {name!r} stands twice in one object")
        names.add(name)
        text.take(":")
        if text.peek() == "[":
            yield from ((at, name, value) for at, value in _items(text))
        else:
            line, value = text.value()
            yield line, name, value


def _items(text: _Text) -> Iterator[tuple[int, Any]]:
    for _ in text.parts("[", "]"):
        yield text.value()


class _Text:
    """Buffered text of a file, with the current line."""

    def __init__(self, file: IO[str], decoder: json.JSONDecoder = DECODER) -> None:
        self.line = 1
        self._decoder = decoder
        self._file = file
        self._buffer = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is no white space; "" at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _BLANK:
                    return self._buffer[self._at]
                self._go_to(self._at + 1)
            if self._ended:
                return ""
            self._read(_CHUNK)

    def skip_comments(self) -> None:
        """Consume lines that begin with # or //, above the first value."""
        while self._is_at_comment():
            while (end := self._buffer.find("\n", self._at)) < 0 and not self._ended:
                self._go_to(len(self._buffer))
                self._read(_CHUNK)
            self._go_to(end + 1 if end >= 0 else len(self._buffer))

    def _is_at_comment(self) -> bool:
        sign = self.peek()
        while sign == "/" and len(self._buffer) - self._at < 2 and not self._ended:
            self._read(_CHUNK)
        return sign == "#" or self._buffer[self._at : self._at + 2] == "//"

    def take(self, *expected: str) -> str:
        """Consume the next character, which must be one of these."""
        character = self.peek()
        if not character:
            raise InvalidFileError(
                self.line, f"the file ends where {' or '.join(expected)} is missing"
            )
        if character not in expected:
            raise InvalidFileError(
                self.line, f"broken JSON: expected {' or '.join(expected)}, not {character!r}"
            )
        self._go_to(self._at + 1)
        return character

    def parts(self, begin: str, end: str) -> Iterator[None]:
        """Yield for each part of a list or an object; the caller consumes the part."""
        self.take(begin)
        if self.peek() == end:
            self.take(end)
            return
        while True:
            yield
            if self.take(",", end) == end:
                return

    def value(self) -> tuple[int, Any]:
        """Return the next value, and its first line."""
        if not self.peek():
            raise InvalidFileError(self.line, "the file ends where a value is missing")
        line, size = self.line, _CHUNK
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                if self._ended or len(self._buffer) - self._at > MAX_VALUE:
                    raise self._broken(error, line) from error
            except (ValueError, RecursionError) as error:
                raise InvalidFileError(line, f"broken JSON: {error}") from error
            else:
                if end < len(self._buffer) or self._ended:  # else a number may go on
                    self._go_to(end)
                    return line, value
            self._read(size)
            size *= 2

    def _broken(self, error: json.JSONDecodeError, began: int) -> InvalidFileError:
        if not self._ended:
            return InvalidFileError(began, f"a value of more than {MAX_VALUE} characters")
        n_remaining = len(self._buffer.rstrip()) - error.pos
        if n_remaining <= _END or error.msg.startswith("Unterminated string"):
            last = self.line + self._buffer.rstrip().count("\n", self._at)
            return InvalidFileError(
                last, f"the file ends in the middle of what begins on line {began}"
            )
        line = self.line + self._buffer.count("\n", self._at, error.pos)
        return InvalidFileError(line, f"broken JSON: {error.msg}")

    def _read(self, size: int) -> None:
        try:
            more = self._file.read(size)
        except UnicodeDecodeError as error:
            raise InvalidFileError(
                self.line, f"not UTF-8 on this line or below: {error.reason}"
            ) from error
        self._buffer = self._buffer[self._at :] + more
        self._at = 0
        self._ended = not more

    def _go_to(self, offset: int) -> None:
        self.line += self._buffer.count("\n", self._at, offset)
        self._at = offset
