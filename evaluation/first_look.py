"""Pages of a large study: the frame is sent at once, the numbers when computed."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.models import Dataset
from annotation.pages import page_of

LARGE = 20_000
"""Texts of a dataset whose pages of results may take long to compute."""
QUICK = 1.0
"""Seconds of a page that is sent whole at its next look."""
TIMEOUT = 3600  # seconds that the duration of a page is kept
WHOLE = "whole"
"""Parameter that asks for the numbers with the frame: browsers without scripts send it."""


def frame_first(request: HttpRequest, dataset: Dataset, choice: Any) -> HttpResponse | None:
    """Return the page without its numbers, if these may take long; it then asks for them.

    That is a page of a large dataset, unless it was quick at its last look. None for requests of the
    frame itself, and for files and pages that no list of pages names.
    """
    if "HX-Request" in request.headers or WHOLE in request.GET or not _is_listed(request):
        return None
    n_texts = dataset.texts.count()
    if n_texts <= LARGE or caches["durations"].get(_key(request), QUICK) < QUICK:
        return None
    assert request.resolver_match
    page = page_of(request.resolver_match.func)
    query = request.GET.copy()
    query[WHOLE] = "1"
    context = {
        "room": "datasets",
        "dataset": dataset,
        "title": page.title if page else "",
        "choice": choice,
        "n_texts": n_texts,
        "whole_url": f"{request.path}?{query.urlencode()}",
    }
    return render(request, "evaluation/first_look.html", context)


def keep_duration(request: HttpRequest, seconds: float) -> None:
    """Keep how long the page took, for its next look."""
    if _is_listed(request):
        caches["durations"].set(_key(request), seconds, TIMEOUT)


def _is_listed(request: HttpRequest) -> bool:
    match = request.resolver_match
    page = page_of(match.func) if match else None
    url_name = match.url_name if match else None
    return page is not None and any(link.url_name == url_name for link in page.links)


def _key(request: HttpRequest) -> str:
    params = sorted((name, value) for name, value in request.GET.items() if name != WHOLE)
    path = repr((request.path, params)).encode()
    return f"first-look-{blake2b(path, digest_size=16).hexdigest()}"
