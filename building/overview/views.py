"""Build overview page of a dataset."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from building.overview.page import steps, writings


@require_safe
@researchers_only
def building(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "steps": steps(dataset),
        "writings": writings(dataset),
    }
    return render(request, "building/overview/building.html", context)
