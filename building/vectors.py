"""Passage vectors of a dataset: files under VAR_DIR/vectors, one folder per model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings

from annotation.models import Dataset, Text
from building.indexes import corpus_of, named_passages
from building.retrieval.vectors import Embedded, Embedder, Vectors, make

AT_ONCE = 1_000  # texts per batch in memory


def vectors_of(dataset: Dataset, embedder: Embedder) -> Vectors:
    """Return the vectors of the current passages; embed missing ones.

    Raises BrokenVectorsError for files of another model or dimension, and what the embedder raises.
    """
    of_model = f"{dataset.pk}-{embedder.fingerprint}"
    folder = Path(settings.VAR_DIR) / "vectors" / f"{of_model}-{corpus_of(dataset)}"
    if not (folder / "meta.json").exists():
        texts = [(pk, bytes.fromhex(sha256)) for _, pk, sha256 in named_passages(dataset)]
        make(folder, embedder, texts, lambda keys: _embed(embedder, keys))
        for older in [*folder.parent.glob(f"{of_model}-*"), *folder.parent.glob(f".{of_model}-*")]:
            if older != folder:  # a process that has one open still reads it
                shutil.rmtree(older, ignore_errors=True)
    return Vectors(folder, embedder)


def _embed(embedder: Embedder, keys: Sequence[int]) -> Iterator[Embedded]:
    for start in range(0, len(keys), AT_ONCE):
        batch = keys[start : start + AT_ONCE]
        bodies = dict(Text.objects.filter(pk__in=batch).order_by().values_list("pk", "body"))
        # A passage deleted meanwhile is embedded as empty, and is not in the next index.
        yield embedder.passages([bodies.get(pk) or "" for pk in batch])
