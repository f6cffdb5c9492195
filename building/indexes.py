"""Search indexes of a dataset's passages, ours and Lucene's.

They are folders under VAR_DIR/indexes, made again where the passages have changed.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Max, Sum

from annotation.errors import UserError
from annotation.models import Dataset, Text
from annotation.models.corpus import TextQuerySet
from building.anserini import index as lucene
from building.anserini.jar import Jar
from building.retrieval.index import VERSION, Index, build
from evaluation.data.cache import cached_by_key
from evaluation.data.cache_keys import CacheKey

AT_ONCE = 1_000  # texts per batch in memory
PAGE_LIMIT = 20_000  # passages that are indexed within a page request


class MissingIndexError(UserError):
    """A missing index that is too large to build for a page; the message says what to do."""


def index_of(dataset: Dataset, max_passages: int | None = None) -> Index:
    """Return the current index of the passages; build it if needed.

    Raises MissingIndexError where it is not and there are more than `max_passages` passages.
    """
    corpus = corpus_of(dataset)
    folder = _folder(dataset, corpus)
    if not (folder / "meta.json").exists():
        n = _passages(dataset).count()
        if max_passages is not None and n > max_passages:
            raise MissingIndexError(
                f"The {n:,} passages of {dataset.title} have no current index. On the server: "
                f"manage.py build_index {dataset.slug}"
            )
        build(folder, _texts(dataset), corpus)
        _remove_older(folder)
    return Index(folder)


def is_indexed(dataset: Dataset) -> bool:
    """Return whether the index of the current passages exists."""
    return (_folder(dataset, corpus_of(dataset)) / "meta.json").exists()


def _folder(dataset: Dataset, corpus: str) -> Path:
    return Path(settings.VAR_DIR) / "indexes" / f"{dataset.pk}-{corpus}-{VERSION}"


def lucene_index_of(
    dataset: Dataset, jar: Jar, language: str = "en", max_passages: int | None = None
) -> lucene.LuceneIndex:
    """Return the Lucene index for a language; build it if needed.

    Raises AnseriniError, and BrokenIndexError.

    Raises MissingIndexError where there are more passages than `max_passages`, indexed or not: asking
    Lucene starts it.
    """
    n = _passages(dataset).count()
    if max_passages is not None and n > max_passages:
        raise MissingIndexError(
            f"To rank the {n:,} passages of {dataset.title} by Lucene takes longer than a page may. "
            f'On the server: manage.py retrieve {dataset.slug} --name NAME --recipe "anserini % 100"'
        )
    corpus = corpus_of(dataset)
    kind = f"lucene-{language}"
    folder = Path(settings.VAR_DIR) / "indexes" / kind / f"{dataset.pk}-{corpus}-{jar.version}"
    if not (folder / lucene.META).exists():
        lucene.build(folder, _named_texts(dataset), corpus, jar, language)
        _remove_older(folder)
    return lucene.LuceneIndex.at(folder)


def _passages(dataset: Dataset) -> TextQuerySet:
    return dataset.texts.with_body().filter(kind=Text.Kind.PASSAGE)


def named_passages(dataset: Dataset) -> list[tuple[str, int, str]]:
    """Return passages with a body sorted by name in code points, the tie order of scores."""
    return sorted(_passages(dataset).order_by().values_list("name", "pk", "sha256").iterator())


def corpus_of(dataset: Dataset) -> str:
    """Return the hash of the passages, cached by their number and keys.

    No text is edited in place under the same key.

    Ratings come all the time, and change nothing about it.
    """
    state = _passages(dataset).aggregate(n=Count("pk"), newest=Max("pk"), sum=Sum("pk"))
    key = (CacheKey.PASSAGES_HASH, dataset.pk, state["n"], state["newest"], state["sum"])
    return cached_by_key(key, lambda: _hash_of(dataset))


def _hash_of(dataset: Dataset) -> str:
    digest = hashlib.sha256()
    for name, pk, sha256 in named_passages(dataset):
        digest.update(f"{name}\n{pk}\n{sha256}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _texts(dataset: Dataset) -> Iterator[tuple[int, str]]:
    keys = [pk for _, pk, _ in named_passages(dataset)]
    for start in range(0, len(keys), AT_ONCE):
        batch = keys[start : start + AT_ONCE]
        bodies = dict(Text.objects.filter(pk__in=batch).order_by().values_list("pk", "body"))
        yield from ((pk, bodies[pk] or "") for pk in batch if pk in bodies)


def _named_texts(dataset: Dataset) -> Iterator[tuple[int, str, str]]:
    names = {pk: name for name, pk, _ in named_passages(dataset)}
    yield from ((pk, names[pk], body) for pk, body in _texts(dataset))


def _remove_older(folder: Path) -> None:
    """Delete indexes of earlier corpora; a process that has one open still reads it."""
    of_dataset = folder.name.partition("-")[0]
    for older in folder.parent.glob(f"{of_dataset}-*"):
        if older != folder:
            shutil.rmtree(older, ignore_errors=True)
