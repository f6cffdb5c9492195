"""Replacement of a run, a file rater or a system by the content of files under its name."""

from typing import NoReturn

from annotation.formats.summary import (
    DatasetImportError,
    ImportSummary,
    Problem,
    Replaced,
    quoted_value,
)
from annotation.models import Dataset
from crux_site.contents.entities import KINDS, Entity
from crux_site.removal import Removal, table_label


def replaceable_entity(dataset: Dataset, kind: str, name: str) -> Entity | None:
    """Return the entity that can be replaced; None if there is none of this kind and name."""
    entity_class = KINDS.get(kind)
    if (
        entity_class is None
        or entity_class.CONTENT is None
        or name not in entity_class.names(dataset)
    ):
        return None
    return entity_class(dataset, name)


def remove_replaced(dataset: Dataset, entity_key: str, summary: ImportSummary) -> Entity:
    """Remove the entity that `which` names, as `run:bm25`, before files are read.

    In a transaction.

    Raises DatasetImportError where there is none, and where something stands on it: with each reason.
    """
    kind, _, name = entity_key.partition(":")
    entity = replaceable_entity(dataset, kind, name)
    if entity is None:
        kinds = ", ".join(
            f"{kind}:NAME" for kind, entity_class in KINDS.items() if entity_class.CONTENT
        )
        _refuse(
            summary, quoted_value(entity_key), f"{dataset.slug} has none such to replace ({kinds})"
        )
    pending = entity.removal_preview()
    if pending.reasons:
        _refuse(summary, str(entity), *(f"it cannot go: {reason}" for reason in pending.reasons))
    pending.removal.delete()
    summary.replaced = Replaced(str(entity), pending.counts)
    return entity


def check_replacement(entity: Entity, summary: ImportSummary) -> None:
    """Count the rows that the files brought. Raises DatasetImportError if the name has none."""
    if entity.CONTENT is None or summary.replaced is None:
        return
    summary.replaced.created = Removal(entity.rows()).counts()
    content = table_label(entity.CONTENT)
    if content not in summary.replaced.created:
        _refuse(summary, str(entity), f"the files bring no {content} under this name")


def _refuse(summary: ImportSummary, file: str, *reasons: str) -> NoReturn:
    summary.errors = [Problem(file, 0, "", reason) for reason in reasons]
    raise DatasetImportError(summary.errors, summary)
