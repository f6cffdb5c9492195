"""Searching the words of all datasets that the reader sees."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Text
from annotation.word_index import words_of
from crux_site.search.page import groups
from crux_site.search.params import GROUPS, LONGEST, Wanted, wanted
from evaluation.data.selection import SelectionError


@require_safe
@researchers_only
def search(request: AuthenticatedRequest) -> HttpResponse:
    """What holds the words in the address; a dataset, kind or place that is not there is refused (400)."""
    datasets = Dataset.objects.seen_by(request.user)
    context = {
        "room": "search",
        "datasets": datasets,
        "kinds": Text.Kind.choices,
        "places": GROUPS,
        "longest": LONGEST,
    }
    try:
        asked = wanted(datasets.values_list("slug", flat=True), request.GET.dict())
    except SelectionError as error:
        asked = Wanted(request.GET.get("q", "")[:LONGEST], None, None, None)
        refused = {"asked": asked, "refused": str(error)}
        return render(request, "crux_site/search/search.html", context | refused, status=400)
    words = words_of(asked.q)
    found = groups(datasets, words, asked, request.GET.get("page")) if words else []
    context |= {
        "asked": asked,
        "has_words": bool(words),
        "is_cut": len(request.GET.get("q", "")) > LONGEST,
        "groups": found,
        "n": sum(group.n for group in found),
    }
    return render(request, "crux_site/search/search.html", context)
