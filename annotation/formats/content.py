"""Detection of a file's kind by its first lines, for uninformative names. No Django."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from enum import Enum
from itertools import dropwhile, islice
from pathlib import Path
from typing import IO

UNREADABLE = (OSError, EOFError, zlib.error)
_LINES = 20
_LONGEST = 2**16  # bytes of a line of columns
_LONGEST_JSON = 2**26
_PEEKED = 2**12  # bytes, to tell JSON from binary files
_ENDINGS = (".gz", ".txt", ".res", ".trec", ".run", ".tsv", ".dat", ".out", ".qrels")
JSON_COMMENT = re.compile(rb"\s*(?:#|//)")
"""Beginning of a comment above the first value of a file of JSON."""

_COLUMNS_COMMENT = re.compile(rb"(?:#+|//)(?: |\r?\n?\Z)")
_RUN = re.compile(rb"\S+\s+Q0\s+\S+\s+-?\d+(?:\.0+)?\s+[-+.\deE]+(?:\s+\S+)?\s*", re.IGNORECASE)
_RANKS = re.compile(rb"(\S+)\t\S+\t(\d{1,10})(?:\t[-+.\deE]+)?")
_MIN_RANKS = 3  # lines of one topic, numbered from 1, which grades seldom are
_QRELS = re.compile(rb"\S+\s+(?:0|Q0)\s+\S+\s+-?\d+\s*", re.IGNORECASE)


_RUN_NAME = re.compile(r"(?<![a-z])(?:runs?|(?:re)?rank(?:s|ed|er|ings?|list)?)(?![a-z])")


class Content(Enum):
    """The kind of lines at the beginning of a file."""

    RUN = "run"
    RANKS = "run of MS MARCO or ColBERT"
    QRELS = "qrels"
    SGML_TOPICS = "topics in SGML"
    OTHER = "other"


def content_of(path: Path) -> Content:
    """Return the kind that all of the first 20 lines match, or that the first line begins.

    A file that cannot be read matches no kind.
    """
    try:
        with opened(path) as file:
            lines = list(dropwhile(is_columns_comment, _first_lines(file, _LONGEST)))
    except UNREADABLE:
        return Content.OTHER
    if lines and lines[0].strip().startswith(b"<top>"):
        return Content.SGML_TOPICS
    for pattern, content in ((_RUN, Content.RUN), (_QRELS, Content.QRELS)):
        if lines and all(pattern.fullmatch(line) for line in lines):
            return content
    return Content.RANKS if lines and _are_ranks(lines) else Content.OTHER


def is_columns_comment(line: bytes) -> bool:
    """Return whether a line above the first row of columns is a comment.

    A row may begin with a cell of # alone.
    """
    return bool(_COLUMNS_COMMENT.match(line)) and not (
        _RUN.fullmatch(line) or _QRELS.fullmatch(line)
    )


def first_rows(path: Path) -> list[list[str]]:
    """Return the cells of the first 20 lines of a file of columns, below any comments.

    Empty for a file that cannot be read.
    """
    try:
        with opened(path) as file:
            lines = dropwhile(is_columns_comment, _first_lines(file, _LONGEST))
            return [line.decode(errors="replace").split() for line in lines]
    except UNREADABLE:
        return []


def _are_ranks(lines: list[bytes]) -> bool:
    """Return whether lines are topic, text, rank, and a score or none; ranks rise from 1."""
    ranks: dict[bytes, int] = {}
    for line in lines:
        match = _RANKS.fullmatch(line)
        if not match or int(match[2]) != ranks.get(match[1], 0) + 1:
            return False
        ranks[match[1]] = int(match[2])
    return max(ranks.values()) >= _MIN_RANKS


def is_called_run(name: str) -> bool:
    """Return whether a name within a folder calls a file a run or a ranking."""
    return bool(_RUN_NAME.search(name.lower()))


def keys_of_lines(path: Path) -> list[frozenset[str]]:
    """Return the keys of each JSON object in the first 20 lines. Raises UNREADABLE."""
    keys = []
    with opened(path) as file:
        if b"{" not in file.peek(_PEEKED):  # type: ignore[attr-defined]  # of both classes
            return []
        for line in _first_lines(file, _LONGEST_JSON):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                keys.append(frozenset(value))
    return keys


def begins_value(path: Path) -> bool:
    """Return whether the first line begins a list, or an object over several lines.

    False for a file that cannot be read: its reader says so.
    """
    try:
        with opened(path) as file:
            lines = (line.strip() for line in _first_lines(file, _LONGEST))
            first = next(dropwhile(JSON_COMMENT.match, lines), b"")
    except UNREADABLE:
        return False
    return first.startswith(b"[") or first == b"{"


def _first_lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield the first lines that are not blank."""
    lines = iter(lambda: file.readline(longest), b"")
    stripped = (line.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n") for line in lines)
    return islice(filter(None, stripped), _LINES)


def run_name(name: str) -> str:
    """Return a run's name from its file name: without the prefix "run." and endings."""
    while name.lower().endswith(_ENDINGS) and name.rpartition(".")[0]:
        name = name.rpartition(".")[0]
    return name[4:] if name.lower().startswith("run.") and name[4:] else name


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed if its name ends in .gz."""
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
