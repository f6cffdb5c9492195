"""The grid: reports against references by kind of task, and by one setting of systems that varies."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.grid.export import TABLES, as_json, items_json
from evaluation.grid.page import grid_report
from evaluation.grid.params import RULES, grid_choice
from evaluation.http import json_file, refusal
from evaluation.metrics.words import NAMES


@require_safe
@researchers_only
def grid(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = grid_choice(dataset, request.GET.dict())
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    context = {
        "room": "datasets",
        "dataset": dataset,
        "choice": choice,
        "report": grid_report(choice),
        "all_rules": RULES,
        "all_tokens": NAMES,
    }
    return render(request, "evaluation/grid/grid.html", context)


@require_safe
@researchers_only
def grid_csv(request: AuthenticatedRequest, slug: str, table: str) -> HttpResponse:
    if table not in TABLES:
        raise Http404(f"There is no table “{table}” here. There are: {', '.join(TABLES)}.")
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = grid_choice(dataset, request.GET.dict())
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    header, rows = TABLES[table](choice, grid_report(choice))
    return csv_response(f"{slug}-{table}", header, rows)


@require_safe
@researchers_only
def grid_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All of the page as one object."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = grid_choice(dataset, request.GET.dict())
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return json_file(f"{slug}-grid", as_json(choice, grid_report(choice)))


@require_safe
@researchers_only
def grid_items_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The values of one system, topic by topic."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = grid_choice(dataset, request.GET.dict())
        content = items_json(choice, request.GET.get("system", ""))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return json_file(f"{slug}-items", content)
