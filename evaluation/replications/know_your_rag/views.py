"""Recall by the type of the question, over the weight of a lexical run beside a dense one."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from evaluation.figures import render_figure
from evaluation.http import chosen, empty_view, json_file
from evaluation.replications.know_your_rag.chart import curves
from evaluation.replications.know_your_rag.export import as_json, recall_table
from evaluation.replications.know_your_rag.figures import types_page
from evaluation.replications.know_your_rag.page import by_type as numbers
from evaluation.replications.know_your_rag.query import ByTypeQuery, by_type_query
from evaluation.result_tables import table_file

of_type = chosen(
    by_type_query,
    empty_view("evaluation/replications/know_your_rag/by_type.html", "This page needs two runs."),
)


@of_type
def by_type(request: AuthenticatedRequest, choice: ByTypeQuery) -> HttpResponse:
    results = numbers(choice)
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "results": results,
        "curves": curves(results.rows, choice.weights, choice.k),
    }
    return render(request, "evaluation/replications/know_your_rag/by_type.html", context)


@of_type
def by_type_figure(request: AuthenticatedRequest, choice: ByTypeQuery) -> HttpResponse:
    """Render an interactive figure above its table."""
    return render_figure(request, choice.dataset, types_page(choice, numbers(choice)))


@of_type
def by_type_table_file(
    request: AuthenticatedRequest, choice: ByTypeQuery, file_format: str
) -> HttpResponse:
    return table_file(
        request,
        file_format,
        recall_table(choice, numbers(choice)),
        name=f"{choice.dataset.slug}-by-type",
        caption=f"Recall by type of question in {choice.dataset.title}",
    )


@of_type
def by_type_json(request: AuthenticatedRequest, choice: ByTypeQuery) -> HttpResponse:
    """All of the page as one object."""
    return json_file(f"{choice.dataset.slug}-by-type", as_json(choice, numbers(choice)))
