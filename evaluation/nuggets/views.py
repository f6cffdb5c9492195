"""Nuggets: systems by what their reports support, one report nugget by nugget, and files."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Text
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import json_file, refusal
from evaluation.nuggets.export import TABLES, as_json
from evaluation.nuggets.page import TITLES, nugget_report
from evaluation.nuggets.params import NuggetChoice, nugget_choice
from evaluation.nuggets.report import report_page

PER_PAGE = 100


@require_safe
@researchers_only
def nuggets(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    report = nugget_report(choice)
    context = _context(choice) | {
        "report": report,
        "page": Paginator(report.reports, PER_PAGE).get_page(request.GET.get("page")),
        "query": f"{choice.query}&",
    }
    return render(request, "evaluation/nuggets/nuggets.html", context)


@require_safe
@researchers_only
def nuggets_report(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """One report: each nugget of its topic, how much it weighs, and whether the report supports it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    reports = Text.objects.select_related("topic").exclude(topic=None)
    text = get_object_or_404(reports, pk=pk, dataset=dataset, kind=Text.Kind.REPORT)
    try:
        choice = _choice(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    context = _context(choice) | {"page": report_page(choice, text)}
    return render(request, "evaluation/nuggets/report.html", context)


@require_safe
@researchers_only
def nuggets_csv(request: AuthenticatedRequest, slug: str, table: str) -> HttpResponse:
    if table not in TABLES:
        raise Http404(f"There is no table “{table}” here. There are: {', '.join(TABLES)}.")
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    header, rows = TABLES[table](nugget_report(choice))
    return csv_response(f"{slug}-nuggets-{table}", header, rows)


@require_safe
@researchers_only
def nuggets_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All of the page as one object."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return json_file(f"{slug}-nuggets", as_json(choice, nugget_report(choice)))


def _choice(request: AuthenticatedRequest, dataset: Dataset) -> NuggetChoice:
    # Who reads by a link was shown this dataset and no other of the project.
    return nugget_choice(dataset, request.GET.dict(), is_alone=not request.user.is_authenticated)


def _context(choice: NuggetChoice) -> dict[str, object]:
    return {"room": "datasets", "dataset": choice.dataset, "choice": choice, "titles": TITLES}
