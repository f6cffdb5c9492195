"""Table of a file with the roles of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.mapping import Column, Role, TableMapping, column_header
from annotation.formats.tables.source import Row, Table, is_empty


@dataclass(frozen=True)
class MappedTable:
    """Table with its mapping; `columns` are by the table's own headers."""

    table: Table
    mapping: TableMapping
    columns: Mapping[str, Column]

    @classmethod
    def of(cls, table: Table, mapping: TableMapping) -> MappedTable:
        """Match a mapping to a table. Raises MappingError for a column that the table lacks."""
        columns = {
            column_header(name, table.headers, table.name): column
            for name, column in mapping.columns.items()
        }
        for name in mapping.fill_down:
            column_header(name, table.headers, table.name)
        return cls(table, mapping, columns)

    @property
    def unread(self) -> list[str]:
        """Columns without a role."""
        return [
            header
            for header in self.table.headers
            if header not in self.columns or self.columns[header].role == Role.IGNORE
        ]

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the table; empty cells of columns to fill down have the value above."""
        headers, table = self.table.headers, self.table
        names = [column_header(name, headers, table.name) for name in self.mapping.fill_down]
        last: dict[str, Cell] = {}
        for number, cells in table.rows():
            last |= {name: cells[name] for name in names if not is_empty(cells.get(name))}
            yield number, {**cells, **last} if names else cells
