"""The objects of an array in a large JSON file, one after another: the file is never in memory as a whole."""

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
    """The objects of a file that is an array, or of the arrays under these keys of its object; with lines.

    Packed files (.gz) are unpacked on the way. Raises ValueError, with the line, for what is no such
    file, and OSError.
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
        found = False
        reader.expect("{")
        while reader.peek() != "}":
            key = reader.value()
            reader.expect(":")
            if key in keys:
                found = True
                yield from reader.array()
            else:
                reader.value()
            if reader.peek() != "}":
                reader.expect(",")
        reader.expect("}")
        reader.end()
        if not found:
            raise ValueError(f"no array under {' or '.join(sorted(keys))}")


class _Reader:
    """A window on the file: what is read is let go of."""

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
        """The next sign that is no white space; nothing at the end."""
        while True:
            rest = self._window[self._at :]
            there = rest.lstrip(" \t\r\n")
            self._pass(len(rest) - len(there))
            if there or not self._more():
                return there[:1]

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self._wrong(repr(sign), self._line)
        self._pass(1)

    def end(self) -> None:
        if self.peek():
            raise self._wrong("nothing more", self._line)

    def value(self) -> Any:
        """The next value; more is read until it is whole."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._window, self._at)
            except _Broken as error:
                raise ValueError(f"broken JSON on line {self._line}: {error}") from error
            except RecursionError as error:
                raise self._wrong("fewer levels", self._line) from error
            except json.JSONDecodeError as error:
                if len(self._window) - self._at > _LONGEST or not self._more():
                    line = self._line + self._window.count("\n", self._at, error.pos)
                    raise ValueError(f"broken JSON on line {line}: {error.msg}") from error
                continue
            # A number at the end of the window may go on.
            if end < len(self._window) or not self._more():
                self._pass(end - self._at)
                return value

    def _pass(self, n: int) -> None:
        self._line += self._window.count("\n", self._at, self._at + n)
        self._at += n

    def _more(self) -> bool:
        # As much again as there is: an object of many pieces is tried a few times, not hundreds.
        kept = self._window[self._at :]
        more = self._file.read(max(_AT_ONCE, len(kept)))
        self._window, self._at = kept + more, 0
        return bool(more)

    def _wrong(self, expected: str, line: int) -> ValueError:
        return ValueError(f"broken JSON on line {line}: expected {expected}")


class _Broken(Exception):
    """What more of the file would not mend."""


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _Broken("a key stands twice in one object")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice)
