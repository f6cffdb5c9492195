"""Searching the passages of a dataset, and why each was found."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from building.indexes import NoIndex
from building.retrieval.index import IndexBroken
from building.search.page import LONGEST, search


@require_safe
@researchers_only
def search_passages(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The ranking for the words in the URL, which a script asks for again as they are typed."""
    dataset = get_object_or_404(Dataset, slug=slug)
    words = request.GET.get("q", "")[:LONGEST]
    context = {"room": "datasets", "dataset": dataset, "words": words, "longest": LONGEST}
    try:
        if words.strip():
            context["search"] = search(dataset, words)
    except (NoIndex, IndexBroken) as error:
        context["trouble"] = str(error)
    is_part = request.headers.get("HX-Target") == "found"
    template = "building/search/_found.html" if is_part else "building/search/search.html"
    return render(request, template, context)
