"""How the lines of another format become rows of ours. No Django here."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.formats.left_out import Part
from annotation.formats.records import Row
from annotation.formats.summary import shown


@dataclass(frozen=True)
class Told:
    """Something of a line that becomes no row of ours and is counted, in these words."""

    what: str


class Broken(ValueError):
    """What cannot be read of a file, and the line where that is."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Translation:
    """A line is brought into `shape`, whose errors name its own fields, and `into` makes rows of ours of it.

    A line is a JSON object, or has `columns`, parted by `separator` (None: any white space); the last one
    keeps what is left. A first line that begins with `header` is passed over. `values` reads what is no text
    or no line: rows with their numbers. `fields` tells which field of the line one of ours is, for errors that
    come later. `shown` is of a tool that shows less than the text and counts places in that: where each of
    the characters that it shows is in the text. `parts` is of a tool: the answers of a line, each of which is
    read by itself, and left out by itself if it is wrong.
    """

    shape: type[Row]
    into: Callable[[Any], Iterable[Row | Told]]
    columns: tuple[str, ...] = ()
    separator: str | None = "\t"
    header: str = ""
    values: Callable[[Path], Iterator[tuple[int, Any]]] | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    shown: Callable[[str], Sequence[int]] | None = None
    parts: Callable[[Any], Iterable[Part]] | None = None

    @property
    def leaves_out(self) -> bool:
        """Return True if invalid answers are left out and listed, and the others read."""
        return self.parts is not None

    def split(self, text: str) -> dict[str, str]:
        """A line of columns by their names. Raises ValueError where there are more or fewer."""
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
        raise ValueError(f"key {shown(twice)} stands twice in one object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


DECODER = json.JSONDecoder(object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
