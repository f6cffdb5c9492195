"""Rows on their way from a table to the importer, in memory or in a temporary file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Any

MAX_MEMORY = 1_000_000  # bytes of one spool; more goes to a file


class Spool:
    """Rows of one kind from one table, each with its number there."""

    def __init__(self) -> None:
        self.n = 0
        self._file: IO[str] = SpooledTemporaryFile(  # noqa: SIM115 - lives as long as the spool
            max_size=MAX_MEMORY, mode="w+", encoding="ascii", newline="\n"
        )

    def add(self, row: int, values: Mapping[str, Any]) -> int:
        """Add a row of a table; return its position in the spool."""
        self._file.write(json.dumps([row, values]) + "\n")
        self.n += 1
        return self.n - 1

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self._file.seek(0)
        for line in self._file:
            row, values = json.loads(line)
            yield row, values
