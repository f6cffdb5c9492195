"""Translation of other formats: from their lines to our rows. No Django here."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.formats.left_out_rows import Part
from annotation.formats.records import Row
from annotation.formats.summary import quoted_value


@dataclass(frozen=True)
class Skipped:
    """A part of a line that becomes no row of ours: listed, and counted under this label."""

    label: str


HEADER_NAMES = frozenset(
    {
        *(
            "id",
            "qid",
            "query",
            "queryid",
            "querytext",
            "question",
            "topic",
            "topicid",
            "title",
            "request",
        ),
        *(
            "pid",
            "passage",
            "passageid",
            "doc",
            "docid",
            "docno",
            "document",
            "documentid",
            "corpusid",
        ),
        *("text", "body", "content", "contents", "subtopic", "iter", "iteration", "q0"),
        *("grade", "score", "rel", "relevance", "label", "judgment", "judgement"),
    }
)
"""Names of columns in the first line of a file, without - and _."""


@dataclass(frozen=True)
class Counted:
    """A conversion of a line, counted under this label."""

    label: str


@dataclass(frozen=True)
class UnreadableRow:
    """A row that cannot be parsed, with the reason."""

    message: str


class InvalidFileError(ValueError):
    """Unreadable part of a file, with its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Translation:
    """Translation of a line: validated by `shape`, then turned into our rows by `into`.

    Errors name the fields of the other format. A line is a JSON object, or has `columns`, separated
    by `separator` (None: any white space); the last column takes the rest. A first line of names of
    columns is skipped. `values` reads files that are not text or not line-based: rows with
    their numbers. `fields` maps our field names to those of the line, for later errors. `displayed` is
    for a tool that displays less than the text and counts offsets in that: the offset in the text
    of each displayed character. `parts` is for an annotation tool: the answers of a line, each of
    which is read by itself, and left out by itself if it is invalid. `may_be_empty`: a file without a
    line is no error, as that of a participant who answered nothing.
    """

    shape: type[Row]
    into: Callable[[Any], Iterable[Row | Skipped | Counted]]
    columns: tuple[str, ...] = ()
    separator: str | None = "\t"
    values: Callable[[Path], Iterator[tuple[int, Any]]] | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    displayed: Callable[[str], Sequence[int]] | None = None
    parts: Callable[[Any], Iterable[Part]] | None = None
    may_be_empty: bool = False

    def is_header(self, text: str) -> bool:
        """Return whether a line of columns consists of names of columns, such as query-id."""
        names = [re.sub(r"[-_]", "", name) for name in text.casefold().split()]
        if len(names) < len(self.columns):
            return False
        return names[0] == "queryid" or HEADER_NAMES.issuperset(names)

    def split(self, text: str) -> dict[str, str]:
        """Split a line into its named columns. Raises ValueError if their number differs."""
        cells = text.strip("\r\n").split(self.separator, len(self.columns) - 1)
        if len(cells) != len(self.columns):
            names = " ".join(self.columns)
            raise ValueError(f"expected {len(self.columns)} columns ({names}), not {len(cells)}")
        return dict(zip(self.columns, (cell.strip() for cell in cells), strict=True))


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {quoted_value(twice)} stands twice in one object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


NAN_DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice)
"""For files that Python wrote, with NaN among what is not read."""
DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
