"""Views of the grid: reports against references by task type and one varied setting."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from evaluation.http import chosen, json_file, table_called
from evaluation.replications.crud_rag.export import TABLES, as_json, items_json
from evaluation.replications.crud_rag.page import grid_report
from evaluation.replications.crud_rag.query import GridQuery
from evaluation.result_tables import table_file

of_grid = chosen(lambda dataset, params: GridQuery(dataset, params).parse())


@of_grid
def grid(request: AuthenticatedRequest, choice: GridQuery) -> HttpResponse:
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "report": grid_report(choice),
    }
    return render(request, "evaluation/replications/crud_rag/grid.html", context)


@of_grid
def grid_table_file(
    request: AuthenticatedRequest, choice: GridQuery, table: str, file_format: str
) -> HttpResponse:
    return table_file(
        request,
        file_format,
        table_called(table, TABLES)(choice, grid_report(choice)),
        name=f"{choice.dataset.slug}-{table}",
        caption=f"Reports against references in {choice.dataset.title}: {table}",
    )


@of_grid
def grid_json(request: AuthenticatedRequest, choice: GridQuery) -> HttpResponse:
    """Return the whole page as a JSON file."""
    return json_file(f"{choice.dataset.slug}-grid", as_json(choice, grid_report(choice)))


@of_grid
def grid_items_json(request: AuthenticatedRequest, choice: GridQuery) -> HttpResponse:
    """Return the values of one system, topic by topic, as a JSON file."""
    content = items_json(choice, request.GET.get("system", ""))
    return json_file(f"{choice.dataset.slug}-items", content)
