"""Contents of a dataset and of the site before an import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.formats.tables.values import Scale


@dataclass(frozen=True)
class StoredTopic:
    """Topic that the dataset has already."""

    request: str
    questions: Sequence[str] = ()


@dataclass(frozen=True)
class StoredContents:
    """Topics of the dataset and rubrics of the site before an import."""

    topics: Mapping[str, StoredTopic] = field(default_factory=dict)
    rubrics: Mapping[str, Scale] = field(default_factory=dict)
    pseudonym_key: bytes = b""
    """Secret of the site, for pseudonyms of people whose names are addresses or platform ids."""
