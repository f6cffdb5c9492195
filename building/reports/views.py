"""Views of reports, their citations and citation support."""

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
from building.engine.cited_pairs import CitedPairsError, make_support
from building.engine.statements import with_citations
from building.engine.support import (
    Grader,
    grader_called,
    graders_of,
    support_datasets,
    system_support,
)
from building.reports.answers import answers_in
from building.reports.export import support_table
from building.reports.page import measure_rows, page_of
from evaluation.data.selection import SelectionError
from evaluation.http import selection_error_page
from evaluation.result_tables import table_file

PER_PAGE = 100


@require_safe
@researchers_only
def reports(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """List the reports of all systems, or one, with citation counts and support."""
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
            return selection_error_page(request, dataset, str(error))
    scored = system_support(dataset, system, grader) if grader else None
    selected = of_reports.filter(system=system) if system else of_reports
    keys = selected.order_by("system", "pk").values_list("pk", flat=True)
    page = Paginator(keys, PER_PAGE).get_page(request.GET.get("page"))
    # Count the page's reports only: a study has tens of thousands.
    on_page = Text.objects.filter(pk__in=list(page)).annotate(
        n_citations=Count("citations"),
        n_unknown=Count("citations", filter=Q(citations__cited__isnull=True)),
    )
    of_report = {entry.report.pk: entry for entry in scored.reports} if scored else {}
    query = _query_string(system, grader)
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
        "measured": measure_rows(scored) if scored else [],
        "page": page,
        "rows": [
            (entry, of_report.get(entry.pk))
            for entry in on_page.select_related("topic").order_by("system", "pk")
        ],
        "asked": query,
        "query": f"{query}&" if query else "",
        "problem": problem,
    }
    status = 422 if problem else 200
    return render(request, "building/reports/reports.html", context, status=status)


def _query_string(system: str, grader: Grader | None) -> str:
    """Encode the system and the rater as the query of the report list."""
    params = {"system": system, "grades": grader.name if grader else ""}
    return urlencode({name: value for name, value in params.items() if value})


@require_safe
@researchers_only
def reports_table_file(request: AuthenticatedRequest, slug: str, file_format: str) -> HttpResponse:
    """Export the citation precision and recall of a system's reports."""
    dataset = get_object_or_404(Dataset, slug=slug)
    system = request.GET.get("system", "")
    try:
        graders = graders_of(support_datasets(dataset, system))
        grader = grader_called(graders, request.GET.get("grades", ""))
    except SelectionError as error:
        return selection_error_page(request, dataset, str(error))
    scored = system_support(dataset, system, grader)
    return table_file(
        request,
        file_format,
        support_table(system, scored),
        name=f"{slug}-citations",
        caption=f"Citation precision and recall of {system} in {dataset.title}",
    )


@require_POST
@admins_only
def take_citations(request: AuthenticatedRequest, slug: str) -> HttpResponse | HttpResponseRedirect:
    """Copy a system's citations into a dataset of their own for grading."""
    dataset = get_object_or_404(Dataset, slug=slug)
    system, into = request.POST.get("system", ""), request.POST.get("into", "").strip()
    try:
        summary = make_support(dataset, [system], into)
    except CitedPairsError as error:
        return _reports(request, dataset, system, problem=str(error), into=into)
    messages.success(request, summary.in_words())
    return HttpResponseRedirect(
        f"{reverse('reports', args=[slug])}?{urlencode({'system': system})}"
    )


@require_safe
@researchers_only
def report(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """Show a report with its cited passages and one rater's grades of the citations."""
    texts = with_citations(Text.objects.select_related("dataset"), with_bodies=True)
    report_text = get_object_or_404(texts, pk=pk, dataset__slug=slug, kind=Text.Kind.REPORT)
    graders = graders_of(support_datasets(report_text.dataset, report_text.system))
    grader: Grader | None = None
    if graders:
        try:
            grader = grader_called(graders, request.GET.get("grades", ""))
        except SelectionError as error:
            return selection_error_page(request, report_text.dataset, str(error))
    context = {
        "room": "datasets",
        "dataset": report_text.dataset,
        "asked": _query_string(report_text.system, grader),
        "shown": page_of(report_text, grader),
        "answered": answers_in(report_text),
        "graders": graders,
        "grader": grader,
    }
    return render(request, "building/reports/report.html", context)
