"""Hugging Face dataset folder: data/*.parquet, and README.md, the dataset card.

The front matter of the card names a configuration for each table, the licence and the size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.db_version import snapshot
from annotation.formats import long_table
from annotation.formats.writing import ExportError, by_code_point
from annotation.models import Dataset, SubQuestion
from crux_site.datasets.export import ExportSummary, write
from crux_site.exports.parquet import RATING, SPAN, Table, schema
from crux_site.exports.publication import UNSPECIFIED, PublicationMetadata, write_datasheet

# License ids of the hub; any other license is `other` with its own name.
_LICENCES = (
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nd-4.0"),
    *("cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0", "odc-by", "odbl", "pddl", "other", "unknown"),
)
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
_TEXTS = ("kind", "system", "text", "topic", "body", "text_sha256", "document")
_QUESTIONS = ("topic", "request", "question_index", "question", "filtered", "group")
_PAIR = ("rater", "rubric", "topic", "question_index", "text_kind", "system", "text")
_CHUNK = 500
TABLES = {
    "texts": (
        _TEXTS,
        "passages, reports and reference summaries; `body` is null where the words are not here",
    ),
    "questions": (_QUESTIONS, "sub-questions of each topic with its request, counted from 0"),
    "ratings": (RATING, "one row a grade; a pair that nobody graded has none"),
    "spans": (
        (*_PAIR, "position", *SPAN),
        "the words that raters marked, in code points of the text, end exclusive",
    ),
}
_CARD = """
# {title}

Grades of pairs of a text and a sub-question, by people and by models.

| table | rows | what it holds |
|---|---|---|
{tables}

Licence: {licence}. Made by: {creator}. `metadata.json` says who rated by kind, what the grades of each rubric
mean, and has the SHA-256 of each file.

    datasets.load_dataset("FOLDER", "ratings")
"""


def export_hugging_face(
    dataset: Dataset, out: Path, metadata: PublicationMetadata
) -> ExportSummary:
    """Write the folder; tables without rows are skipped.

    Raises ExportError if the folder is not empty.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportError(f"{out} is there already and not an empty folder")
    with snapshot():  # the datasheet counts what the tables have
        n_of = _tables(dataset, out / "data")
        summary = ExportSummary({f"data/{name}.parquet": n for name, n in n_of.items()})
        card = _card(dataset, n_of, metadata).splitlines(keepends=True)
        summary.files["README.md"] = write(out / "README.md", card)
        summary.files["metadata.json"] = write_datasheet(dataset, out, metadata)
    return summary


def _tables(dataset: Dataset, data: Path) -> dict[str, int]:
    """Write the tables; return the number of rows of those that have any."""
    tables = {
        name: Table(data / f"{name}.parquet", schema(*columns))
        for name, (columns, _) in TABLES.items()
    }
    for name, rows in (("texts", _texts(dataset)), ("questions", _questions(dataset))):
        with tables[name] as table:
            for row in rows:
                table.add(row)
    with tables["ratings"] as ratings, tables["spans"] as spans:
        for row in long_table.rows(dataset):
            ratings.add(row)
            for position, span in enumerate(row["spans"]):
                spans.add({**row, "position": position, **span})
    return {name: table.n for name, table in tables.items() if table.n}


def _texts(dataset: Dataset) -> Iterator[dict[str, Any]]:
    order = ("kind", by_code_point("system"), by_code_point("name"))
    fields = ("kind", "system", "name", "topic__name", "body", "sha256", "document__name")
    for row in dataset.texts.order_by(*order).values_list(*fields).iterator(_CHUNK):
        yield dict(zip(_TEXTS, row, strict=True))


def _questions(dataset: Dataset) -> Iterator[dict[str, Any]]:
    questions = SubQuestion.objects.filter(topic__dataset=dataset)
    ordered = questions.order_by("topic__position", by_code_point("topic__name"), "position")
    fields = ("topic__name", "topic__request", "position", "body", "filtered_because", "group")
    for row in ordered.values_list(*fields).iterator(_CHUNK):
        yield dict(zip(_QUESTIONS, row, strict=True))


def _card(dataset: Dataset, n_of: dict[str, int], metadata: PublicationMetadata) -> str:
    rows = [f"| `{name}` | {n:,} | {TABLES[name][1]} |" for name, n in n_of.items()]
    body = _CARD.format(
        title=dataset.title,
        tables="\n".join(rows),
        licence=metadata.licence or UNSPECIFIED,
        creator=metadata.creator or UNSPECIFIED,
    )
    size = _SIZES[min(max(len(str(sum(n_of.values()))) - 3, 0), len(_SIZES) - 1)]
    fields = {
        "pretty_name": dataset.title,
        **_licence(metadata.licence),
        "size_categories": [size],
        "configs": [{"config_name": name, "data_files": f"data/{name}.parquet"} for name in n_of],
    }
    # JSON is YAML, and what people typed breaks neither.
    front_matter = "\n".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()
    )
    return f"---\n{front_matter}\n---\n{body}"


def _licence(licence: str) -> dict[str, str]:
    """Return the license fields of the hub: a license it knows, or `other` with name and link."""
    if not licence:
        return {"license": "unknown"}
    if licence.lower() in _LICENCES:
        return {"license": licence.lower()}
    name = re.sub(r"[^a-z0-9.]+", "-", licence.lower()).strip("-") or "other"
    link = {"license_link": licence} if licence.startswith(("https://", "http://")) else {}
    return {"license": "other", "license_name": name, **link}
