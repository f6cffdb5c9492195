"""Origins that an import added to rows that existed before it, and their undo."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Model, QuerySet

from annotation.formats.batches import LOOK_UP, batches
from annotation.models import Dataset, SubQuestion, Text, Version
from annotation.origins import Origin, identity, remove_origins
from evaluation.models import RetrievalRun

LABEL = "models of texts, sub-questions and runs that remain"
_PATHS: dict[type[Model], str] = {
    Text: "dataset",
    SubQuestion: "topic__dataset",
    RetrievalRun: "dataset",
}
_TABLES = {model._meta.label_lower: model for model in _PATHS}


@dataclass(frozen=True)
class AddedOrigins:
    """The same origins added to rows of one table, by ranges of their keys."""

    table: str
    keys: list[list[int]]
    added: list[Origin]

    @property
    def n(self) -> int:
        return sum(last - first + 1 for first, last in self.keys)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def rows(self, dataset: Dataset) -> Iterator[QuerySet[Any]]:
        """Yield the rows of the dataset that still exist, in batches."""
        model = _TABLES[self.table]
        keys = (key for first, last in self.keys for key in range(first, last + 1))
        for batch in batches(keys, LOOK_UP):
            yield model._base_manager.filter(pk__in=batch, **{_PATHS[model]: dataset.pk})


def origins_of_import(
    named_models: Mapping[tuple[type[Model], str], Iterable[int]],
    before: Mapping[type[Model], int],
) -> list[AddedOrigins]:
    """Return the origins that an import added to rows that existed before it.

    `named_models` are keys by table and added origins, as JSON; `before` the last keys before the import.
    """
    groups = []
    for (model, added), keys in named_models.items():
        if existing := sorted(key for key in keys if key <= before[model]):
            ranges = list(_ranges(existing))
            groups.append(AddedOrigins(model._meta.label_lower, ranges, json.loads(added)))
    return groups


def _ranges(keys: Iterable[int]) -> Iterator[list[int]]:
    """Yield [first, last] of consecutive keys."""
    current: list[int] = []
    for key in keys:
        if current and key == current[1] + 1:
            current[1] = key
        else:
            if current:
                yield current
            current = [key, key]
    if current:
        yield current


def count_added(entry_rows: Mapping[str, Any], dataset: Dataset) -> int:
    """Return the number of rows from which an undo would remove origins."""
    groups = _groups(entry_rows)
    return sum(
        len(_rows_that_have(rows, group.added)) for group in groups for rows in group.rows(dataset)
    )


def remove_added(entry_rows: Mapping[str, Any], dataset: Dataset) -> None:
    """Remove the origins that an import added, also from wordings replaced since.

    In a transaction.
    """
    last_version = entry_rows.get(Version._meta.label_lower, [1, 0])[1]
    for group in _groups(entry_rows):
        for rows in group.rows(dataset):
            changed = _rows_that_have(rows, group.added)
            for row in changed:
                row.origins = remove_origins(row.origins, group.added)
            rows.model._base_manager.bulk_update(changed, ["origins"], batch_size=500)
            _remove_from_versions(rows, dataset, last_version, group.added)


def _rows_that_have(rows: QuerySet[Any], added: Iterable[Origin]) -> list[Any]:
    """Return the rows that still have all these origins, edited since or not."""
    identities = {identity(entry) for entry in added}
    return [
        row
        for row in rows.only("pk", "origins").order_by("pk")
        if identities <= set(map(identity, row.origins))
    ]


def _remove_from_versions(
    rows: QuerySet[Any], dataset: Dataset, last_version: int, added: list[Origin]
) -> None:
    """Remove origins from the wordings that edits after an import have replaced."""
    field = {Text: "text__in", SubQuestion: "question__in"}.get(rows.model)
    if field is None:
        return
    later = dataset.versions.filter(**{field: rows.values("pk")}, pk__gt=last_version)
    for version in later.filter(had__has_key="origins"):
        version.had["origins"] = remove_origins(version.had["origins"], added)
        version.save(update_fields=["had"])


def _groups(entry_rows: Mapping[str, Any]) -> list[AddedOrigins]:
    return [AddedOrigins(**group) for group in entry_rows.get("origins", ())]
