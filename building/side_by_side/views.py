"""Two rankings of a topic, side by side."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from building.side_by_side.page import PER_PAGE, PERSISTENCE, TOP, side_by_side_of
from building.side_by_side.query import SideBySideQuery
from evaluation.data.selection import SelectionError
from evaluation.http import selection_error_page


@require_safe
@researchers_only
def side_by_side(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Compare the two runs on the topic in the URL."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        pair = SideBySideQuery(dataset, request.GET).parse()
    except SelectionError as error:
        return selection_error_page(request, dataset, str(error))
    context: dict[str, Any] = {"room": "datasets", "dataset": dataset}
    if pair.has_rankings:
        both = side_by_side_of(pair.first, pair.second, pair.topic)
        context |= {
            "pair": pair,
            "both": both,
            "top": TOP,
            "persistence": PERSISTENCE,
            "page": Paginator(both.rows, PER_PAGE).get_page(request.GET.get("page")),
            "query": f"{pair.query()}&",
            "question": pair.topic.questions.order_by("position").first(),
        }
    return render(request, "building/side_by_side/side_by_side.html", context)
