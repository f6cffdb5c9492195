"""How far one judge agrees with people, to stand in a page of somebody else."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rater
from evaluation.agreement_page.with_people import with_people


@require_safe
@researchers_only
def agreement_with(request: AuthenticatedRequest, slug: str, rater_id: int) -> HttpResponse:
    """A few lines for htmx; for who follows the link, the agreement page with this judge chosen."""
    dataset = get_object_or_404(Dataset, slug=slug)
    rater = get_object_or_404(Rater, pk=rater_id)
    if rater.dataset_id not in (None, dataset.pk) or rater.kind == Rater.Kind.HUMAN:
        raise Http404(f"{rater} is no judge of {dataset.slug}.")
    found = with_people(dataset, rater.pk)
    response: HttpResponse
    if request.htmx:
        response = render(request, "evaluation/agreement_with.html", {"found": found})
    else:
        # Where both grade on one scale there is more to see than where they are read at eta.
        best = sorted(found, key=lambda one: not one.selection.one_scale)
        query = f"?{best[0].selection.query()}#judge" if best else ""
        response = redirect(reverse("agreement", args=[dataset.slug]) + query)
    patch_vary_headers(response, ["HX-Request"])
    return response
