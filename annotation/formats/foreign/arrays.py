"""Streaming reader for arrays of objects in a large JSON file, in constant memory."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

_AT_ONCE = 2**16  # characters read at a time
_LONGEST = 2**26  # of one object, as of one line


def objects(path: Path, keys: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of an array, or of the arrays under these keys, with line numbers.

    Files ending in .gz are decompressed. Raises ValueError, with the line, for any other file, and
    OSError.
    """
    try:
        yield from _objects(path, keys)
    except (EOFError, zlib.error) as error:
        raise ValueError(f"broken at its end: {error}") from error


def _objects(path: Path, keys: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        reader = _Reader(file)
        if reader.peek() == "[":
            yield from reader.array()
            reader.end()
            return
        has_array = False
        reader.expect("{")
        while reader.peek() != "}":
            key = reader.value()
            reader.expect(":")
            if key in keys:
                has_array = True
                yield from reader.array()
            else:
                reader.value()
            if reader.peek() != "}":
                reader.expect(",")
        reader.expect("}")
        reader.end()
        if not has_array:
            raise ValueError(f"no array under {' or '.join(sorted(keys))}")


class _Reader:
    """Sliding window on the file: text that was read is dropped."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._window = ""
        self._at = 0
        self._line = 1

    def array(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self.expect("[")
        while self.peek() != "]":
            self.peek()
            line = self._line
            value = self.value()
            if not isinstance(value, dict):
                raise self._wrong("an object", line)
            yield line, value
            if self.peek() != "]":
                self.expect(",")
        self.expect("]")

    def peek(self) -> str:
        """Return the next character that is no white space, or "" at the end."""
        while True:
            remaining = self._window[self._at :]
            stripped = remaining.lstrip(" \t\r\n")
            self._pass(len(remaining) - len(stripped))
            if stripped or not self._more():
                return stripped[:1]

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self._wrong(repr(sign), self._line)
        self._pass(1)

    def end(self) -> None:
        if self.peek():
            raise self._wrong("nothing more", self._line)

    def value(self) -> Any:
        """Return the next value, reading more until it is complete."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._window, self._at)
            except _BrokenJSONError as error:
                raise ValueError(f"broken JSON on line {self._line}: {error}") from error
            except RecursionError as error:
                raise self._wrong("fewer levels", self._line) from error
            except json.JSONDecodeError as error:
                if len(self._window) - self._at > _LONGEST or not self._more():
                    line = self._line + self._window.count("\n", self._at, error.pos)
                    raise ValueError(f"broken JSON on line {line}: {error.msg}") from error
                continue
            # A number at the end of the window may be incomplete.
            if end < len(self._window) or not self._more():
                self._pass(end - self._at)
                return value

    def _pass(self, n: int) -> None:
        self._line += self._window.count("\n", self._at, self._at + n)
        self._at += n

    def _more(self) -> bool:
        # Double the window: a large object is decoded a few times, not hundreds.
        unread = self._window[self._at :]
        more = self._file.read(max(_AT_ONCE, len(unread)))
        self._window, self._at = unread + more, 0
        return bool(more)

    def _wrong(self, expected: str, line: int) -> ValueError:
        return ValueError(f"broken JSON on line {line}: expected {expected}")


class _BrokenJSONError(Exception):
    """An error that reading more of the file cannot resolve."""


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _BrokenJSONError("a key stands twice in one object")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice)
