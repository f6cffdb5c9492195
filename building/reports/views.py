"""Reports of a dataset, and one with what it cites."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Text
from building.reports.page import page_of

PER_PAGE = 100


@require_safe
@researchers_only
def reports(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All reports, or those of one system, with how many citations each has."""
    dataset = get_object_or_404(Dataset, slug=slug)
    of_reports = dataset.texts.filter(kind=Text.Kind.REPORT)
    systems = list(of_reports.order_by("system").values_list("system", flat=True).distinct())
    system = request.GET.get("system", "")
    shown = of_reports.filter(system=system) if system in systems else of_reports
    shown = shown.select_related("topic").annotate(
        n_citations=Count("citations"),
        n_unknown=Count("citations", filter=Q(citations__cited__isnull=True)),
    )
    context = {
        "room": "datasets",
        "dataset": dataset,
        "systems": systems,
        "system": system,
        "page": Paginator(shown.order_by("system", "pk"), PER_PAGE).get_page(
            request.GET.get("page")
        ),
        "query": f"system={system}&" if system else "",
    }
    return render(request, "building/reports/reports.html", context)


@require_safe
@researchers_only
def report(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """One report, with the passages that its sentences rest on."""
    texts = Text.objects.select_related("dataset", "topic")
    found = get_object_or_404(texts, pk=pk, dataset__slug=slug, kind=Text.Kind.REPORT)
    context = {"room": "datasets", "dataset": found.dataset, "shown": page_of(found)}
    return render(request, "building/reports/report.html", context)
