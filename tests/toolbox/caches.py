"""Clearing of all caches."""

from django.core.cache import caches

from evaluation.data import process_cache


def clear_caches() -> None:
    caches["default"].clear()
    caches["api"].clear()
    for cache in process_caches():
        cache.clear()


def process_caches() -> list[process_cache.ProcessCache]:
    declared = vars(process_cache).values()
    return [cache for cache in declared if isinstance(cache, process_cache.ProcessCache)]
