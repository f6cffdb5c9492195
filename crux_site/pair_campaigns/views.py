"""View of the new campaign of chosen pairs."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from annotation.builder.pair_set import PairSetError
from annotation.builder.views import new_campaign_page
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from crux_site.pair_campaigns.sources import SOURCES
from evaluation.data.selection import SelectionError, one_of
from evaluation.http import selection_error_page


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def campaign_of_pairs(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Return the page of a new campaign of the pairs in the URL, or on POST create its draft."""
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
    try:
        source = one_of("source of pairs", request.GET.get("of", ""), SOURCES)
        pair_set = SOURCES[source](dataset, request.GET)
        pair_set.selection(dataset)
    except (SelectionError, PairSetError) as error:
        return selection_error_page(request, dataset, str(error))
    return new_campaign_page(request, dataset, pair_set)
