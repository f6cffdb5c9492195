"""Full-text search of all datasets that the reader sees."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Text
from annotation.word_index import parse_query
from crux_site.search.page import groups
from crux_site.search.query import GROUPS, LONGEST, SiteQuery
from evaluation.data.selection import SelectionError


@require_safe
@researchers_only
def search(request: AuthenticatedRequest) -> HttpResponse:
    """Show the search results; an unknown dataset, kind or group is refused (400)."""
    datasets = Dataset.objects.visible_to(request.user)
    context = {
        "room": "search",
        "datasets": datasets,
        "kinds": Text.Kind.choices,
        "places": GROUPS,
        "longest": LONGEST,
    }
    try:
        query = SiteQuery(datasets.values_list("slug", flat=True), request.GET.dict()).parse()
    except SelectionError as error:
        query = SiteQuery((), {"q": request.GET.get("q", "")})
        refused = {"asked": query, "refused": str(error)}
        return render(request, "crux_site/search/search.html", context | refused, status=400)
    terms = parse_query(query.q)
    results = groups(datasets, terms, query, request.GET.get("page")) if terms else []
    context |= {
        "asked": query,
        "has_words": bool(terms),
        "is_cut": len(request.GET.get("q", "")) > LONGEST,
        "groups": results,
        "n": sum(group.n for group in results),
    }
    return render(request, "crux_site/search/search.html", context)
