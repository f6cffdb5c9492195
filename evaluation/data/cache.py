"""The cache of results: kept until the data of a dataset change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache import cache
from django.db.models import Count, F, Max, Q, Subquery, Sum

from annotation.models import Dataset, NuggetSpan, Rating, SubQuestion
from evaluation.data.held import COUNTED, Held
from evaluation.models import RankedText

Result = TypeVar("Result")

# To unpack the scores of 25,000 texts takes two seconds.
UNPACKED = Held(8)

KEPT_FOR = 60 * 60  # seconds; by then nobody asks for it any more


def data_version(dataset: Dataset) -> str:
    """A short string that changes whenever ratings, spans, texts, questions or runs do, or their names.

    Five aggregates, added up by the database: counts, newest keys and sums; a new name for a rater, a system or
    a run is an act of the log. What none of them can see, because nothing in the application does it, is a
    text or a question whose words are edited in place. They are not asked again while nothing at all is
    written to the database.
    """
    return COUNTED.while_unwritten(("version", dataset.pk), lambda: _version(dataset))


def _version(dataset: Dataset) -> str:
    newest = {"n": Count("pk"), "newest": Max("pk")}
    aggregates = [
        # A grade that is changed in place changes its product.
        Rating.objects.of_dataset(dataset).aggregate(**newest, sum=Sum(F("grade") * F("pk"))),
        NuggetSpan.objects.filter(rating__text__dataset=dataset).aggregate(**newest),
        dataset.texts.aggregate(**newest, words=Count("body"), topics=Count("topic")),
        SubQuestion.objects.filter(topic__dataset=dataset)
        .annotate(act=Subquery(dataset.log.order_by("-pk").values("pk")[:1]))
        .aggregate(**newest, filtered=Count("pk", filter=~Q(filtered_because="")), acts=Max("act")),
        RankedText.objects.filter(run__dataset=dataset).aggregate(**newest, runs=Max("run_id")),
    ]
    return hashlib.sha256(repr((dataset.pk, aggregates)).encode()).hexdigest()[:16]


def cached(
    dataset: Dataset, key: object, compute: Callable[[], Result], version: str = ""
) -> Result:
    """What `compute` returns, kept in Django's cache under the dataset's version and `key`.

    `key` is anything whose `repr` says what is computed: a tuple of names and frozen options. The
    cache is the one that the settings name; with none named it is Django's own, in the memory of
    each process, so that every process computes once. Results must be picklable; a cache that
    outlives the program has to be emptied when a new version of it is installed. The last few results are
    also held as they are: who gets one changes nothing of it. `version` is the
    dataset's, where many results are asked for at once: it takes five queries.
    """
    name = _name(dataset, key, version)

    def kept() -> Result:
        result: Result | None = cache.get(name)
        if result is None:
            result = compute()
            cache.set(name, result, KEPT_FOR)
        return result

    return UNPACKED.get(name, kept)


def if_kept(dataset: Dataset, key: object) -> Any:
    """What `cached` keeps under this key for the data as they are now; None where it keeps nothing."""
    return cache.get(_name(dataset, key))


def _name(dataset: Dataset, key: object, version: str = "") -> str:
    digest = hashlib.sha256(repr(key).encode()).hexdigest()
    return f"evaluation:{version or data_version(dataset)}:{digest}"
