"""The vectors of a dataset's passages: files under VAR_DIR/vectors, of one model each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings

from annotation.models import Dataset, Text
from building.indexes import corpus_of, named_passages
from building.retrieval.vectors import Embedded, Embedder, Vectors, make

AT_ONCE = 1_000  # texts whose words are in memory


def vectors_of(dataset: Dataset, embedder: Embedder) -> Vectors:
    """Those of the passages as they are now. Passages that have none of this model are embedded.

    Raises VectorsBroken for files of another model or dimension, and what the embedder raises.
    """
    of_model = f"{dataset.pk}-{embedder.fingerprint}"
    folder = Path(settings.VAR_DIR) / "vectors" / f"{of_model}-{corpus_of(dataset)}"
    if not (folder / "meta.json").exists():
        texts = [(pk, bytes.fromhex(sha256)) for _, pk, sha256 in named_passages(dataset)]
        make(folder, embedder, texts, lambda keys: _embedded(embedder, keys))
        for other in [*folder.parent.glob(f"{of_model}-*"), *folder.parent.glob(f".{of_model}-*")]:
            if other != folder:  # who reads one still goes on reading
                shutil.rmtree(other, ignore_errors=True)
    return Vectors(folder, embedder)


def _embedded(embedder: Embedder, keys: Sequence[int]) -> Iterator[Embedded]:
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        bodies = dict(Text.objects.filter(pk__in=some).order_by().values_list("pk", "body"))
        # A passage that was deleted just now has no words, and is gone from the next index.
        yield embedder.passages([bodies.get(pk) or "" for pk in some])
