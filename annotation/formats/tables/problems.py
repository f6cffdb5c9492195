"""Errors of tables, by location."""

from __future__ import annotations

from typing import Protocol

from annotation.formats.summary import LIMIT, DatasetImportError, Problem


class TableReference(Protocol):
    """Table as a study needs it: names of places."""

    @property
    def name(self) -> str: ...
    def location(self, row: int, header: str = "") -> str: ...


class Problems:
    """Errors of the tables, by location; more than LIMIT end the reading."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(self, location: str, field_name: str, message: str) -> None:
        """Record an error. Raises DatasetImportError at the limit."""
        self.found.append(Problem(location, 0, field_name, message))
        if len(self.found) >= LIMIT:
            self.stop()

    def stop(self) -> None:
        """Raise DatasetImportError if there are errors."""
        if self.found:
            raise DatasetImportError(self.found)
