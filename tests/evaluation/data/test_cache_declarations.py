"""Caches of results: all are declared in two modules, and tests clear all of them."""

import re

from evaluation.data.cache_keys import CacheKey
from tests.toolbox.caches import clear_caches, process_caches
from tests.toolbox.paths import ROOT, tracked

# `cached`, and what is no result: counters of requests and of log-ins, and how long pages took.
IMPORT_DJANGO_CACHE = {
    "annotation/throttling.py",
    "crux_site/login/rate_limit.py",
    "evaluation/data/cache.py",
    "evaluation/first_look.py",
}


def modules_with(pattern):
    modules = [path for path in tracked("*.py") if not path.startswith(("tests/", "bench/"))]
    return {path for path in modules if re.search(pattern, (ROOT / path).read_text("utf-8"))}


def test_django_cache_is_used_by_listed_modules_alone():
    assert modules_with(r"from django\.core(\.cache)? import .*\bcache") == IMPORT_DJANGO_CACHE


def test_process_caches_are_declared_in_one_module():
    assert modules_with(r"\bProcessCache(\[.*\])?\(\d") == {"evaluation/data/process_cache.py"}


def test_templates_cache_fragments_with_one_tag():
    tags = re.compile(r"{% (load )?(cache|held)\b")
    assert not [
        path for path in tracked("templates/*.html") if tags.search((ROOT / path).read_text())
    ]


def test_declared_keys_are_used():
    modules = modules_with(r"\bCacheKey\.") - {"evaluation/data/cache_keys.py"}
    source = "\n".join((ROOT / path).read_text("utf-8") for path in sorted(modules))
    assert [key for key in CacheKey if not re.search(rf"CacheKey\.{key.name}\b", source)] == []


def test_clear_caches_empties_every_process_cache():
    assert len(process_caches()) > 10
    for cache in process_caches():
        cache.put("key", "value")
    clear_caches()
    assert {cache.find("key") for cache in process_caches()} == {None}
