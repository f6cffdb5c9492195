"""Reports of a dataset, what they cite, and how far it supports them."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import Dataset, Text
from building.engine.cited_pairs import SupportRefused, make_support
from building.engine.statements import with_citations
from building.engine.support import (
    Grader,
    grader_called,
    graders_of,
    support_datasets,
    system_support,
)
from building.reports.answers import answers_in
from building.reports.export import HEADER, rows
from building.reports.page import measured, page_of
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import refusal

PER_PAGE = 100


@require_safe
@researchers_only
def reports(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All reports, or those of one system, with how many citations each has, and how far these support it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    return _reports(request, dataset, request.GET.get("system", ""))


def _reports(
    request: AuthenticatedRequest, dataset: Dataset, system: str, problem: str = "", into: str = ""
) -> HttpResponse:
    of_reports = dataset.texts.filter(kind=Text.Kind.REPORT)
    systems = list(of_reports.order_by("system").values_list("system", flat=True).distinct())
    system = system if system in systems else ""
    supports = support_datasets(dataset, system) if system else []
    graders = graders_of(supports)
    grader: Grader | None = None
    if graders:
        try:
            grader = grader_called(graders, request.GET.get("grades", ""))
        except SelectionError as error:
            return refusal(request, dataset, str(error))
    scored = system_support(dataset, system, grader) if grader else None
    shown = of_reports.filter(system=system) if system else of_reports
    keys = shown.order_by("system", "pk").values_list("pk", flat=True)
    page = Paginator(keys, PER_PAGE).get_page(request.GET.get("page"))
    # Those of a page alone are counted: a study has tens of thousands.
    on_page = Text.objects.filter(pk__in=list(page)).annotate(
        n_citations=Count("citations"),
        n_unknown=Count("citations", filter=Q(citations__cited__isnull=True)),
    )
    of_report = {each.report.pk: each for each in scored.reports} if scored else {}
    query = _asked(system, grader)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "systems": systems,
        "system": system,
        "supports": supports,
        "into": into or (supports[0].slug if supports else f"{dataset.slug[:70]}-citations"),
        "graders": graders,
        "grader": grader,
        "scored": scored,
        "measured": measured(scored) if scored else [],
        "page": page,
        "rows": [
            (each, of_report.get(each.pk))
            for each in on_page.select_related("topic").order_by("system", "pk")
        ],
        "asked": query,
        "query": f"{query}&" if query else "",
        "problem": problem,
    }
    status = 422 if problem else 200
    return render(request, "building/reports/reports.html", context, status=status)


def _asked(system: str, grader: Grader | None) -> str:
    """What a list of reports was asked for, as the query of its address."""
    asked = {"system": system, "grades": grader.name if grader else ""}
    return urlencode({name: value for name, value in asked.items() if value})


@require_safe
@researchers_only
def reports_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Citation precision and recall of the reports of a system."""
    dataset = get_object_or_404(Dataset, slug=slug)
    system = request.GET.get("system", "")
    try:
        graders = graders_of(support_datasets(dataset, system))
        grader = grader_called(graders, request.GET.get("grades", ""))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    scored = system_support(dataset, system, grader)
    return csv_response(f"{slug}-citations", HEADER, rows(system, scored))


@require_POST
@admins_only
def take_citations(request: AuthenticatedRequest, slug: str) -> HttpResponse | HttpResponseRedirect:
    """Take what a system cites into a dataset of its own, where it can be graded."""
    dataset = get_object_or_404(Dataset, slug=slug)
    system, into = request.POST.get("system", ""), request.POST.get("into", "").strip()
    try:
        made = make_support(dataset, [system], into)
    except SupportRefused as error:
        return _reports(request, dataset, system, problem=str(error), into=into)
    messages.success(request, made.in_words())
    return HttpResponseRedirect(
        f"{reverse('reports', args=[slug])}?{urlencode({'system': system})}"
    )


@require_safe
@researchers_only
def report(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """One report, with the passages that its statements rest on, and the grades of one rater for that."""
    texts = with_citations(Text.objects.select_related("dataset"), with_words=True)
    found = get_object_or_404(texts, pk=pk, dataset__slug=slug, kind=Text.Kind.REPORT)
    graders = graders_of(support_datasets(found.dataset, found.system))
    grader: Grader | None = None
    if graders:
        try:
            grader = grader_called(graders, request.GET.get("grades", ""))
        except SelectionError as error:
            return refusal(request, found.dataset, str(error))
    context = {
        "room": "datasets",
        "dataset": found.dataset,
        "asked": _asked(found.system, grader),
        "shown": page_of(found, grader),
        "answered": answers_in(found),
        "graders": graders,
        "grader": grader,
    }
    return render(request, "building/reports/report.html", context)
