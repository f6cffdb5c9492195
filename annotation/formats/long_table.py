"""The long table: a row for each rating of a dataset, with spans and the text's hash.

Rows are ordered by rater, rubric, topic, kind, system, text and question. The CSV is plain RFC
4180: UTF-8, commas, quotes where they are needed, CRLF. Cells that a spreadsheet would take for a
formula get an apostrophe in front; the JSON lines have them unchanged.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from django.db.models import Q

from annotation.formats.batches import batches
from annotation.formats.highlights import span_row
from annotation.formats.writing import by_code_point, escape_cell, json_line
from annotation.models import Dataset, NuggetSpan, Rater, Rating
from annotation.models.rating import Exposure, raters_of

COLUMNS = (
    "dataset",
    "rater",
    "rater_kind",
    "judge_version",
    "rubric",
    "topic",
    "question_index",
    "question",
    "filtered",
    "text_kind",
    "system",
    "text",
    "text_sha256",
    "grade",
    "copied_from_system",
    "copied_from",
    "exposure",
    "created",
    "spans",
)
_FIELDS = (
    "pk",
    "rubric__slug",
    "question__topic__name",
    "question__position",
    "question__body",
    "question__filtered_because",
    "text__kind",
    "text__system",
    "text__name",
    "text__sha256",
    "grade",
    "copied_from__system",
    "copied_from__name",
    "exposure",
    "created",
)
_CHUNK = 2000


def rows(dataset: Dataset, chosen: Mapping[int, Q] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows as dicts with the keys of COLUMNS; spans as dicts, times in UTC.

    `chosen` selects ratings by rater; None: all. The offsets of a span are Unicode code points, end
    exclusive; null if it is not in the text.
    """
    versions = _versions()
    for name, rater in sorted(raters_of(dataset).items()):
        if chosen is not None and rater.pk not in chosen:
            continue
        ratings = (
            Rating.objects.filter(
                chosen[rater.pk] if chosen else Q(), rater=rater, text__dataset=dataset
            )
            .order_by(
                by_code_point("rubric__slug"),
                "question__topic__position",
                by_code_point("question__topic__name"),
                "text__kind",
                by_code_point("text__system"),
                by_code_point("text__name"),
                "question__position",
            )
            .values_list(*_FIELDS)
            .iterator(chunk_size=_CHUNK)
        )
        for batch in batches(ratings, _CHUNK):
            spans = _spans([pk for pk, *_ in batch])
            for pk, *fields, exposure, created in batch:
                values = ["" if value is None else value for value in fields]
                values.append(Exposure(exposure).file_name)
                rater_cells = (dataset.slug, name, rater.kind, versions.get(rater.pk, ""))
                time = created.astimezone(UTC).isoformat(timespec="seconds")
                cells = (*rater_cells, *values, time, spans.get(pk, []))
                yield dict(zip(COLUMNS, cells, strict=True))


def jsonl_lines(dataset: Dataset) -> Iterator[str]:
    """Yield a JSON object for each row, with nested spans."""
    return (json_line(row) for row in rows(dataset))


def csv_lines(dataset: Dataset) -> Iterator[str]:
    """Yield the header and a record for each row, with the spans as JSON in their cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    yield _drain(buffer)
    for row in rows(dataset):
        row["spans"] = json.dumps(row["spans"], ensure_ascii=False)
        writer.writerow(map(escape_cell, row.values()))
        yield _drain(buffer)


def _drain(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _versions() -> dict[int, str]:
    """Return the fingerprints of judges by rater; a judge of a file has none."""
    judges = Rater.objects.filter(judge__isnull=False)
    return dict(judges.values_list("pk", "judge__fingerprint"))


def _spans(rating_ids: list[int]) -> dict[int, list[dict[str, Any]]]:
    spans: dict[int, list[dict[str, Any]]] = {}
    for span in NuggetSpan.objects.filter(rating__in=rating_ids).order_by("rating", "position"):
        spans.setdefault(span.rating_id, []).append(span_row(span))
    return spans
