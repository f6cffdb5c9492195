"""Cache of results, invalidated when the data of a dataset change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Hashable
from typing import Any, TypeVar, cast

from django.core.cache import cache
from django.db.models import Count, Max, Q, Subquery, Sum

from annotation import db_version
from annotation.db_version import snapshot
from annotation.models import Dataset, Rater, RatingVersion, SubQuestion
from evaluation.data.cache_keys import CacheKey, Key
from evaluation.data.process_cache import SHARED_CACHE, UNPICKLED_RESULTS, ProcessCache
from evaluation.models import RankedText, ReportValue

Result = TypeVar("Result")

CACHE_SECONDS = 60 * 60
_NEWEST = {"n": Count("pk"), "newest": Max("pk")}


def data_version(dataset: Dataset) -> str:
    """Return a hash of a dataset's data, for cache keys.

    It changes with every rating, span, text, question and run.

    The database tells changes itself, so that no writer has to remember to invalidate anything. Ratings
    and spans draw a random number for their rater, see `annotation.rating_versions`; names and wordings
    change by acts that the log of the dataset has. Nothing is asked for again while nothing at all is
    written to the database.
    """
    return SHARED_CACHE.until_db_write(
        (CacheKey.DATA_VERSION, dataset.pk), lambda: _version(dataset)
    )


def _version(dataset: Dataset) -> str:
    raters = Rater.objects.filter(Q(dataset=dataset) | Q(dataset=None)).values("pk")
    ratings = RatingVersion.objects.filter(rater_id__in=raters).aggregate(
        **_NEWEST, drawn=Sum("token")
    )
    return _hash(content_version(dataset), ratings)


def content_version(dataset: Dataset) -> str:
    """Return a hash of a dataset's data without ratings and spans, for keys of caches.

    It changes as `data_version` does, but not while people and judges grade.
    """
    return SHARED_CACHE.until_db_write(
        (CacheKey.CONTENT_VERSION, dataset.pk), lambda: _content_version(dataset)
    )


def until_content_changes(
    store: ProcessCache[tuple[object, ...]],
    dataset: Dataset,
    key: tuple[object, ...],
    compute: Callable[[], Result],
) -> Result:
    """Return the result of `compute`, cached in the process until the content changes.

    For what depends on no rating. Nobody may change the result.
    """
    with snapshot():  # the version is of exactly what is read
        state = db_version.current()
        if state is None:  # a transaction that may be rolled back
            return compute()
        version = (state.database, content_version(dataset))
        return store.of_version((dataset.pk, *key), version, compute)


def _content_version(dataset: Dataset) -> str:
    acts = dataset.log.order_by().values("dataset")
    values = ReportValue.objects.filter(report__dataset=dataset).order_by()
    questions = (
        SubQuestion.objects.filter(topic__dataset=dataset).order_by().values("topic__dataset")
    )
    topics = dataset.topics.order_by().values("dataset")
    rows = (acts, values.values("report__dataset"), topics, questions)
    newest = [
        Subquery(group.annotate(value=aggregate).values("value"))
        for group in rows
        for aggregate in _NEWEST.values()
    ]
    filtered = questions.annotate(value=Count("pk", filter=~Q(filtered_because="")))
    aggregates = [
        list(
            Dataset.objects.filter(pk=dataset.pk).values_list(
                *newest, Subquery(filtered.values("value"))
            )
        ),
        dataset.texts.aggregate(**_NEWEST, words=Count("body"), topics=Count("topic")),
        RankedText.objects.filter(run__in=dataset.runs.values("pk")).aggregate(
            **_NEWEST, runs=Max("run_id")
        ),
    ]
    return _hash(dataset.pk, aggregates)


def _hash(*values: object) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def rating_version(raters: Collection[int]) -> Hashable | None:
    """Return the version of the ratings and spans of raters; None if there are none.

    It changes with each of them, also with the first of a rater.
    """
    sums = RatingVersion.objects.filter(rater_id__in=raters).aggregate(
        n=Count("pk"), newest=Max("pk"), drawn=Sum("token")
    )
    return tuple(sums.values()) if sums["n"] else None


def cached(dataset: Dataset, key: Key, compute: Callable[[], Result], version: str = "") -> Result:
    """Return the result of `compute`, cached in Django under `key` and the dataset's version.

    Of each key one version is cached, which the entry of the key alone names.

    `key` begins with a CacheKey; its `repr` names all that the result depends on: a tuple of names and frozen
    options. The cache is the one that the settings name; with none named it is Django's own, in the memory of
    each process, so that every process computes once. Results must be picklable; a cache that
    outlives the program has to be emptied when a new version of it is installed. The last few results also
    stay unpickled in the process, so nobody may change one. Pass the dataset's `version` if you get many
    results at once, because it takes some queries. A result that is computed during a write belongs to
    neither version, and is not cached.
    """
    version = version or data_version(dataset)
    name = _name(key, dataset.pk)
    result_version, result = UNPICKLED_RESULTS.find(name, (None, None))
    if result_version != version:
        UNPICKLED_RESULTS.drop(name)
        result = cache.get(f"{name}:{version}")
    if result is None:
        cache.delete(f"{name}:{cache.get(name)}")  # before: the new result needs the memory
        result = compute()
        if data_version(dataset) != version:
            return result
        cache.set(name, version, CACHE_SECONDS)
        cache.set(f"{name}:{version}", result, CACHE_SECONDS)
    UNPICKLED_RESULTS.put(name, (version, result))
    return cast(Result, result)


def cached_or_none(dataset: Dataset, key: Key) -> Any:
    """Return the result that `cached` stored for the present data; None on a cache miss."""
    return cache.get(f"{_name(key, dataset.pk)}:{data_version(dataset)}")


def cached_by_key(key: Key, compute: Callable[[], Result]) -> Result:
    """Return the result of `compute`, cached in Django under a key that changes with its data.

    For results that few changes of a dataset concern.
    """
    return cast(Result, cache.get_or_set(_name(key, None), compute, CACHE_SECONDS))


def _name(key: Key, dataset: int | None) -> str:
    digest = hashlib.sha256(repr(key).encode()).hexdigest()
    return f"evaluation:{dataset or 'any'}:{digest}"
