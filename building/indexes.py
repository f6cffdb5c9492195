"""The indexes of a dataset's passages, ours and Lucene's.

They are folders under VAR_DIR/indexes, made anew where the passages have changed.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Max, Sum

from annotation.models import Dataset, Text
from annotation.models.corpus import TextQuerySet
from building.anserini import index as lucene
from building.anserini.jar import Jar
from building.retrieval.index import VERSION, Index, build
from evaluation.data.cache import KEPT_FOR

AT_ONCE = 1_000  # texts whose words are in memory
AT_A_LOOK = 20_000  # passages that are indexed while somebody waits for a page


class NoIndex(Exception):
    """There is none, and to make it takes longer than a page may: a sentence that says what to do."""


def index_of(dataset: Dataset, most: int | None = None) -> Index:
    """The index of the passages as they are now, made if it is not there.

    Raises NoIndex where it is not and there are more than `most` passages.
    """
    corpus = corpus_of(dataset)
    folder = _folder(dataset, corpus)
    if not (folder / "meta.json").exists():
        n = _passages(dataset).count()
        if most is not None and n > most:
            raise NoIndex(
                f"The {n:,} passages of {dataset.title} are not indexed as they are now. "
                f"On the server: manage.py build_index {dataset.slug}"
            )
        build(folder, _texts(dataset), corpus)
        _remove_older(folder)
    return Index(folder)


def is_indexed(dataset: Dataset) -> bool:
    """Whether there is an index of the passages as they are now."""
    return (_folder(dataset, corpus_of(dataset)) / "meta.json").exists()


def _folder(dataset: Dataset, corpus: str) -> Path:
    return Path(settings.VAR_DIR) / "indexes" / f"{dataset.pk}-{corpus}-{VERSION}"


def lucene_index_of(
    dataset: Dataset, jar: Jar, language: str = "en", most: int | None = None
) -> lucene.LuceneIndex:
    """The same by Lucene's own analyser of a language. Raises AnseriniError, and IndexBroken.

    Raises NoIndex where there are more passages than `most`, indexed or not: to ask Lucene is to start it.
    """
    n = _passages(dataset).count()
    if most is not None and n > most:
        raise NoIndex(
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
    """Passages with words by name, sign by sign: among equal scores this order decides."""
    return sorted(_passages(dataset).order_by().values_list("name", "pk", "sha256").iterator())


def corpus_of(dataset: Dataset) -> str:
    """The hash of the passages, kept while their number and keys are the same: no text is edited in place.

    Ratings come all the time, and change nothing about it.
    """
    seen = _passages(dataset).aggregate(n=Count("pk"), newest=Max("pk"), sum=Sum("pk"))
    key = f"building:passages:{dataset.pk}:{seen['n']}:{seen['newest']}:{seen['sum']}"
    return str(cache.get_or_set(key, lambda: _hash_of(dataset), KEPT_FOR))


def _hash_of(dataset: Dataset) -> str:
    digest = hashlib.sha256()
    for name, pk, sha256 in named_passages(dataset):
        digest.update(f"{name}\n{pk}\n{sha256}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _texts(dataset: Dataset) -> Iterator[tuple[int, str]]:
    keys = [pk for _, pk, _ in named_passages(dataset)]
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        bodies = dict(Text.objects.filter(pk__in=some).order_by().values_list("pk", "body"))
        yield from ((pk, bodies[pk] or "") for pk in some if pk in bodies)


def _named_texts(dataset: Dataset) -> Iterator[tuple[int, str, str]]:
    names = {pk: name for name, pk, _ in named_passages(dataset)}
    yield from ((pk, names[pk], body) for pk, body in _texts(dataset))


def _remove_older(folder: Path) -> None:
    """Indexes of the dataset as it was. Who reads one still goes on reading."""
    of_dataset = folder.name.partition("-")[0]
    for other in folder.parent.glob(f"{of_dataset}-*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
