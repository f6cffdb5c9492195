"""Parquet files of rows. Imported lazily: it needs pyarrow, of the extra `cluster`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.db.models import QuerySet

from annotation.formats import long_table
from annotation.formats.batches import batches
from annotation.models import Dataset, NuggetSpan, Rating
from annotation.models.rating import Exposure

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


_RATINGS_AT_ONCE = 10_000  # a row group; the JSON of the same list has 1,000 a page
_SPAN_FIELDS = ("start", "end", "quote", "located")
API_RATINGS = pa.schema(
    [
        ("id", pa.int64()),
        ("rater", pa.string()),
        ("rater_kind", pa.string()),
        ("rubric", pa.string()),
        ("grade", pa.int64()),
        ("created", pa.timestamp("us", tz="UTC")),
        ("text_id", pa.int64()),
        ("text_kind", pa.string()),
        ("text_system", pa.string()),
        ("text_name", pa.string()),
        ("text_sha256", pa.string()),
        ("question_id", pa.int64()),
        ("question_topic", pa.string()),
        ("question_position", pa.int64()),
        ("copied_from", pa.int64()),
        ("exposure", pa.string()),
        ("spans", pa.list_(pa.struct(list(schema(*_SPAN_FIELDS))))),
    ]
)
_API_FIELDS = {
    "rater_kind": "rater__kind",
    "rubric": "rubric__slug",
    "text_kind": "text__kind",
    "text_system": "text__system",
    "text_name": "text__name",
    "text_sha256": "text__sha256",
    "question_topic": "question__topic__name",
    "question_position": "question__position",
    "copied_from": "copied_from_id",
}
"""Look-ups of the columns whose name is no field of a rating."""


def write_api_ratings(ratings: QuerySet[Rating], names: Mapping[int, str], path: Path) -> None:
    """Write ratings by id, in the columns of the API's list; `text.id` becomes `text_id`.

    `names` are the raters' names in the dataset, by key. Without ratings the file has no rows.
    """
    columns = [name for name in API_RATINGS.names if name not in ("rater", "spans")]
    fields = [_API_FIELDS.get(name, name) for name in columns]
    rows = ratings.order_by("pk").values_list("rater_id", "rater__name", *fields)
    spans = _api_spans(ratings)
    next_id, next_spans = next(spans, _NO_SPANS)
    with pq.ParquetWriter(path, API_RATINGS, compression="zstd") as writer:
        for batch in batches(rows.iterator(chunk_size=_AT_ONCE), _RATINGS_AT_ONCE):
            keys, stored_names, *values = zip(*batch, strict=True)
            data: dict[str, Sequence[Any]] = dict(zip(columns, values, strict=True))
            data["exposure"] = [Exposure(value).file_name for value in data["exposure"]]
            # Somebody may have given a first grade since the names were read.
            data["rater"] = [
                names.get(key, name) for key, name in zip(keys, stored_names, strict=True)
            ]
            span_lists = []
            for pk in data["id"]:
                while next_id < pk:
                    next_id, next_spans = next(spans, _NO_SPANS)
                span_lists.append(next_spans if next_id == pk else [])
            data["spans"] = span_lists
            writer.write_table(pa.table(data, schema=API_RATINGS))


_NO_SPANS: tuple[float, list[dict[str, Any]]] = (math.inf, [])


def _api_spans(ratings: QuerySet[Rating]) -> Iterator[tuple[float, list[dict[str, Any]]]]:
    """Yield the id of each rating with spans, in order, and its spans."""
    rows = (
        NuggetSpan.objects.filter(rating__in=ratings.values("pk"))
        .order_by("rating_id", "position")
        .values_list("rating_id", *_SPAN_FIELDS)
        .iterator(chunk_size=_AT_ONCE)
    )
    for pk, group in groupby(rows, key=itemgetter(0)):
        yield pk, [dict(zip(_SPAN_FIELDS, values, strict=True)) for _, *values in group]
