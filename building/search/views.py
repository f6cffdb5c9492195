"""View of the passage search."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.errors import UserError
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from building.search.page import LONGEST, search


@require_safe
@researchers_only
def search_passages(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Show the hits for the query in the URL, also for search as you type."""
    dataset = get_object_or_404(Dataset, slug=slug)
    query = request.GET.get("q", "")[:LONGEST]
    context = {"room": "datasets", "dataset": dataset, "words": query, "longest": LONGEST}
    try:
        if query.strip():
            context["search"] = search(dataset, query)
    except UserError as error:
        context["trouble"] = str(error)
    is_part = request.headers.get("HX-Target") == "found"
    template = "building/search/_results.html" if is_part else "building/search/search.html"
    return render(request, template, context)
