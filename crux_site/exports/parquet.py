"""Parquet files of rows. Imported lazily: it needs pyarrow, of the extra `cluster`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.formats import long_table
from annotation.models import Dataset

_AT_ONCE = 2000  # rows that are in memory
_NUMBERS = {"question_index", "grade", "position", "start", "end"}


def schema(*columns: str) -> pa.Schema:
    """Return a schema of these columns: strings, and integers for the names in _NUMBERS."""
    return pa.schema([(name, pa.int64() if name in _NUMBERS else pa.string()) for name in columns])


SPAN = ("start", "end", "quote", "located", "source_quote")
RATING = tuple(name for name in long_table.COLUMNS if name != "spans")
LONG = schema(*RATING).append(pa.field("spans", pa.list_(pa.struct(list(schema(*SPAN))))))


class Table:
    """Parquet file that rows are added to, written in chunks; skipped if it has no rows."""

    def __init__(self, path: Path, columns: pa.Schema) -> None:
        self.n = 0
        self._path, self._columns = path, columns
        self._rows: list[dict[str, Any]] = []
        self._writer: pq.ParquetWriter | None = None

    def add(self, row: dict[str, Any]) -> None:
        """Add the values by column: other keys are ignored, and a missing one is null."""
        self._rows.append(row)
        self.n += 1
        if len(self._rows) >= _AT_ONCE:
            self._store()

    def _store(self) -> None:
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, self._columns, compression="zstd")
        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._columns))
        self._rows.clear()

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._rows and kind is None:
            self._store()
        if self._writer is not None:
            self._writer.close()


def write_long_table(dataset: Dataset, path: Path) -> None:
    """Write the long table with the spans nested in it, as its JSON lines have them."""
    with Table(path, LONG) as table:
        for row in long_table.rows(dataset):
            table.add(row)
