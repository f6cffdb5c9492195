"""Two rankings of a topic, side by side."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from building.side_by_side.page import PER_PAGE, PERSISTENCE, TOP, side_by_side_of
from building.side_by_side.params import pair_of
from evaluation.data.selection import SelectionError
from evaluation.http import refusal


@require_safe
@researchers_only
def side_by_side(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The two runs and the topic in the URL."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        pair = pair_of(dataset, request.GET.dict())
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    context = {"room": "datasets", "dataset": dataset, "pair": pair}
    if pair:
        both = side_by_side_of(pair.first, pair.second, pair.topic)
        context |= {
            "both": both,
            "top": TOP,
            "persistence": PERSISTENCE,
            "page": Paginator(both.rows, PER_PAGE).get_page(request.GET.get("page")),
            "query": f"{pair.query}&",
            "question": pair.topic.questions.order_by("position").first(),
        }
    return render(request, "building/side_by_side/side_by_side.html", context)
