"""The grid: reports against references by kind of task, and by one setting of systems that varies."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from evaluation.csv_tables import csv_response
from evaluation.grid.export import TABLES, as_json, items_json
from evaluation.grid.page import grid_report
from evaluation.grid.params import RULES, GridChoice, grid_choice
from evaluation.http import chosen, json_file
from evaluation.metrics.words import NAMES

of_grid = chosen(grid_choice)


@of_grid
def grid(request: AuthenticatedRequest, choice: GridChoice) -> HttpResponse:
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "report": grid_report(choice),
        "all_rules": RULES,
        "all_tokens": NAMES,
    }
    return render(request, "evaluation/grid/grid.html", context)


@of_grid
def grid_csv(request: AuthenticatedRequest, choice: GridChoice, table: str) -> HttpResponse:
    if table not in TABLES:
        raise Http404(f"There is no table “{table}” here. There are: {', '.join(TABLES)}.")
    header, rows = TABLES[table](choice, grid_report(choice))
    return csv_response(f"{choice.dataset.slug}-{table}", header, rows)


@of_grid
def grid_json(request: AuthenticatedRequest, choice: GridChoice) -> HttpResponse:
    """All of the page as one object."""
    return json_file(f"{choice.dataset.slug}-grid", as_json(choice, grid_report(choice)))


@of_grid
def grid_items_json(request: AuthenticatedRequest, choice: GridChoice) -> HttpResponse:
    """The values of one system, topic by topic."""
    content = items_json(choice, request.GET.get("system", ""))
    return json_file(f"{choice.dataset.slug}-items", content)
