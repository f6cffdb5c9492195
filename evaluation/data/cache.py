"""The cache of results: kept until the data of a dataset change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.core.cache import cache
from django.db.models import BigIntegerField, Count, F, Max, Q, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce

from annotation.models import Dataset, NuggetSpan, Rating, SubQuestion
from evaluation.data.held import COUNTED, Held
from evaluation.models import RankedText, ReportValue

Result = TypeVar("Result")

# To unpack the scores of 25,000 texts takes two seconds.
UNPACKED = Held(8)

KEPT_FOR = 60 * 60  # seconds; by then nobody asks for it any more


def data_version(dataset: Dataset) -> str:
    """Hash of the data of a dataset, for cache keys: it changes with every rating, span, text, question, run.

    The database aggregates the rows themselves, so that no writer has to remember to invalidate anything.
    Ratings and spans go in with their values; names and wordings change by acts that the log of the dataset
    has. The aggregates are not asked for again while nothing at all is written to the database.
    """
    return COUNTED.while_unwritten(("version", dataset.pk), lambda: _version(dataset))


def _version(dataset: Dataset) -> str:
    newest = {"n": Count("pk"), "newest": Max("pk")}
    spans = NuggetSpan.objects.filter(rating__text__dataset=dataset)
    acts = dataset.log.order_by().values("dataset")
    values = (
        ReportValue.objects.filter(report__dataset=dataset).order_by().values("report__dataset")
    )
    questions = SubQuestion.objects.filter(topic__dataset=dataset).annotate(
        n_acts=Subquery(acts.annotate(n=Count("pk")).values("n")),
        act=Subquery(acts.annotate(last=Max("pk")).values("last")),
        n_values=Subquery(values.annotate(n=Count("pk")).values("n")),
        value=Subquery(values.annotate(last=Max("pk")).values("last")),
    )
    of_others = {f"newest_{name}": Max(name) for name in ("n_acts", "act", "n_values", "value")}
    filtered = Count("pk", filter=~Q(filtered_because=""))
    aggregates = [
        Rating.objects.of_dataset(dataset).aggregate(
            **newest, last=Max("created"), **_sums("grade")
        ),
        spans.aggregate(**newest, **_sums("start", "end")),
        dataset.texts.aggregate(**newest, words=Count("body"), topics=Count("topic")),
        questions.aggregate(**newest, filtered=filtered, **of_others),
        RankedText.objects.filter(run__dataset=dataset).aggregate(**newest, runs=Max("run_id")),
    ]
    return hashlib.sha256(repr((dataset.pk, aggregates)).encode()).hexdigest()[:16]


def _sums(*fields: str) -> dict[str, Sum]:
    """Sums over the rows of two pseudo-random numbers below 2^31, each drawn by a row's key and values.

    A sum of plain products stays the same where two grades change places (1, 4, 4, 1 and 4, 1, 1, 4). These
    products are taken modulo a prime, and cubed, before they are added: that two sets of rows have both sums in
    common is a matter of chance, of one in 2^62.
    """
    sums = {}
    for n, (of_key, of_value, prime) in enumerate(_MIXERS):
        mixed: Any = F("pk") * of_key
        for place, field in enumerate(fields, 1):
            value = Coalesce(Cast(field, BigIntegerField()), Value(-1))
            mixed = mixed + value * (of_value * place)
        mixed %= prime
        sums[f"sum_{n}"] = Sum(mixed * mixed % prime * mixed % prime)
    return sums


# Factors of the key and of values, and a prime: their products stay below 2^63.
_MIXERS = ((1_000_003, 15_485_863, 2_147_483_647), (998_244_353, 32_452_843, 2_147_483_629))


def cached(
    dataset: Dataset, key: object, compute: Callable[[], Result], version: str = ""
) -> Result:
    """What `compute` returns, kept in Django's cache under the dataset's version and `key`.

    `key` is anything whose `repr` says what is computed: a tuple of names and frozen options. The
    cache is the one that the settings name; with none named it is Django's own, in the memory of
    each process, so that every process computes once. Results must be picklable; a cache that
    outlives the program has to be emptied when a new version of it is installed. The last few results are
    also held as they are: who gets one changes nothing of it. `version` is the
    dataset's, where many results are asked for at once: it takes some queries. What is computed while
    somebody writes is of neither version, and is not kept.
    """
    version = version or data_version(dataset)
    name = _name(key, version)
    result: Any = UNPACKED.find(name)
    if result is None:
        result = cache.get(name)
    if result is None:
        result = compute()
        if data_version(dataset) != version:
            return cast(Result, result)
        cache.set(name, result, KEPT_FOR)
    UNPACKED.put(name, result)
    return cast(Result, result)


def if_kept(dataset: Dataset, key: object) -> Any:
    """What `cached` keeps under this key for the data as they are now; None where it keeps nothing."""
    return cache.get(_name(key, data_version(dataset)))


def _name(key: object, version: str) -> str:
    digest = hashlib.sha256(repr(key).encode()).hexdigest()
    return f"evaluation:{version}:{digest}"
