"""Publication folder: the dataset's files and metadata.json, a Croissant datasheet.

Source: MLCommons, Croissant Format Specification 1.0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Count
from django.utils import timezone

from annotation.db_version import snapshot
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.corpus import digest
from crux_site.datasets.export import ExportSummary, export_folder, write
from crux_site.datasets.export_scope import EXPORT_OMISSIONS
from evaluation.data.cache_keys import CacheKey
from evaluation.data.process_cache import SHARED_CACHE

DATASHEET = "metadata.json"
UNSPECIFIED = "not stated"
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
_TYPES = {
    ".jsonl": "application/jsonlines",
    ".run": "text/plain",
    ".parquet": "application/vnd.apache.parquet",
    ".md": "text/markdown",
}
_TERMS = (
    *(
        "column",
        "extract",
        "field",
        "fileProperty",
        "format",
        "includes",
        "jsonPath",
        "parentField",
    ),
    *("path", "recordSet", "references", "regex", "repeated", "replace", "separator", "source"),
    *("subField", "transform", "isEnumeration", "key"),
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in _TERMS},
}
_TEXT, _NUMBER = "sc:Text", "sc:Integer"


@dataclass(frozen=True)
class PublicationMetadata:
    """License, creator and URL of a publication, given by the publisher: no table stores them."""

    licence: str = ""
    creator: str = ""
    url: str = ""


def export_publication(dataset: Dataset, out: Path, metadata: PublicationMetadata) -> ExportSummary:
    """Write the public folder of the dataset (`export_folder`) with its datasheet.

    Raises ExportError.
    """
    with snapshot():  # the datasheet counts what the files have
        summary = export_folder(dataset, out, is_public=True)
        summary.files[DATASHEET] = write_datasheet(dataset, out, metadata)
    return summary


def write_datasheet(dataset: Dataset, folder: Path, metadata: PublicationMetadata) -> int:
    """Write the datasheet, which lists all files of the folder; return its number of lines."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    content = datasheet(dataset, metadata) | {
        "distribution": [_file(folder, path) for path in files]
    }
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    return write(folder / DATASHEET, text.splitlines(keepends=True))


def _file(folder: Path, path: Path) -> dict[str, str]:
    name = path.relative_to(folder).as_posix()
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": _TYPES.get(path.suffix, "application/octet-stream"),
        "sha256": sha256,
    }


def datasheet(dataset: Dataset, metadata: PublicationMetadata) -> dict[str, Any]:
    """Return the datasheet without the files. It has counts of people, and names nobody."""
    counts = counts_of(dataset)
    parts = [
        _records("counts", "How many there are.", {"what": _TEXT, "n": _NUMBER}, counts.items()),
        _raters(dataset),
        _rubrics(dataset),
        _campaigns(dataset),
        _records(
            "not-carried",
            "What the site has of the dataset and these files do not.",
            {"what": _TEXT},
            [(sentence,) for sentence in EXPORT_OMISSIONS],
        ),
    ]
    summary = ", ".join(f"{n:,} {label}" for label, n in counts.items() if n)
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": dataset.slug,
        "alternateName": dataset.title,
        "description": f"{dataset.title}: {summary or 'nothing yet'}. Grades are of pairs of a text and a "
        "sub-question; a pair that nobody graded has no row.",
        "license": metadata.licence or UNSPECIFIED,
        "url": metadata.url or dataset.get_absolute_url(),
        "creator": {"@type": "sc:Organization", "name": metadata.creator or UNSPECIFIED},
        "dateCreated": dataset.created.date().isoformat(),
        "datePublished": timezone.now().date().isoformat(),
        "recordSet": [part for part in parts if part["data"]],
    }


def counts_of(dataset: Dataset) -> dict[str, int]:
    """Return the numbers of rows of a dataset by label, cached until the next write."""
    return SHARED_CACHE.until_db_write(
        (CacheKey.EXPORTED_ROW_COUNTS, dataset.pk), lambda: _counted(dataset)
    )


def _counted(dataset: Dataset) -> dict[str, int]:
    n_of = dict(dataset.texts.order_by().values_list("kind").annotate(Count("pk")))
    ratings = Rating.objects.of_dataset(dataset)
    return {
        "topics": dataset.topics.count(),
        "sub-questions": SubQuestion.objects.filter(topic__dataset=dataset).count(),
        "documents": dataset.documents.count(),
        "passages": n_of.get(Text.Kind.PASSAGE, 0),
        "reports": n_of.get(Text.Kind.REPORT, 0),
        "reference summaries": n_of.get(Text.Kind.REFERENCE, 0),
        "retrieval runs": dataset.runs.count(),
        "ratings": ratings.count(),
        "spans": NuggetSpan.objects.filter(rating__text__dataset=dataset).count(),
    }


def _raters(dataset: Dataset) -> dict[str, Any]:
    rated = Rating.objects.of_dataset(dataset).order_by().values_list("rater__kind")
    rows = rated.annotate(Count("rater", distinct=True), Count("pk")).order_by("rater__kind")
    fields = {"kind": _TEXT, "raters": _NUMBER, "ratings": _NUMBER}
    labels = [(Rater.Kind(kind).label, *counts) for kind, *counts in rows]
    return _records("raters", "Who rated, by kind.", fields, labels)


def _rubrics(dataset: Dataset) -> dict[str, Any]:
    used = Rating.objects.of_dataset(dataset).order_by().values("rubric").distinct()
    rows = [
        (rubric.slug, rubric.title, rubric.scale, rubric.eta, rubric.grade_of(level), level.label)
        for rubric in Rubric.objects.filter(pk__in=used).prefetch_related("levels")
        for level in rubric.levels.all()
    ]
    fields = {
        **dict.fromkeys(("rubric", "title", "scale"), _TEXT),
        **dict.fromkeys(("eta", "grade"), _NUMBER),
        "label": _TEXT,
    }
    about = "What grades mean, a row a level; from eta on a pair counts as answered."
    return _records("rubrics", about, fields, rows)


def _campaigns(dataset: Dataset) -> dict[str, Any]:
    rows = [
        (
            *(campaign.slug, campaign.rubric.slug, campaign.consent_version),
            *(digest(campaign.consent), campaign.n_participants),
        )
        for campaign in dataset.campaigns.select_related("rubric")
        .annotate(n_participants=Count("participants"))
        .order_by("slug")
    ]
    fields = {
        **dict.fromkeys(("campaign", "rubric", "consent_version", "consent_sha256"), _TEXT),
        "participants": _NUMBER,
    }
    about = "The studies that people took part in, and which consent they gave."
    return _records("campaigns", about, fields, rows)


def _records(
    name: str, about: str, fields: Mapping[str, str], rows: Iterable[tuple[Any, ...]]
) -> dict[str, Any]:
    """A record set whose rows are in the datasheet itself."""
    ids = {field: f"{name}/{field}" for field in fields}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": about,
        "field": [
            {"@type": "cr:Field", "@id": ids[field], "name": field, "dataType": kind}
            for field, kind in fields.items()
        ],
        "data": [dict(zip(ids.values(), row, strict=True)) for row in rows],
    }
