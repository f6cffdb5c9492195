"""Recall by the type of the question, over the weight of a lexical run beside a dense one."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from evaluation.by_type.chart import curves
from evaluation.by_type.export import as_json, recall_table
from evaluation.by_type.page import by_type as numbers
from evaluation.by_type.params import ByTypeChoice, by_type_choice
from evaluation.csv_tables import csv_response
from evaluation.http import chosen, json_file, no_choice

of_type = chosen(
    by_type_choice,
    no_choice("evaluation/by_type/by_type.html", "There are not two runs to join."),
)


@of_type
def by_type(request: AuthenticatedRequest, choice: ByTypeChoice) -> HttpResponse:
    found = numbers(choice)
    context = {
        "room": "datasets",
        "dataset": choice.dataset,
        "choice": choice,
        "found": found,
        "curves": curves(found.rows, choice.weights),
    }
    return render(request, "evaluation/by_type/by_type.html", context)


@of_type
def by_type_csv(request: AuthenticatedRequest, choice: ByTypeChoice) -> HttpResponse:
    table = recall_table(choice, numbers(choice))
    return csv_response(f"{choice.dataset.slug}-by-type", *table)


@of_type
def by_type_json(request: AuthenticatedRequest, choice: ByTypeChoice) -> HttpResponse:
    """All of the page as one object."""
    return json_file(f"{choice.dataset.slug}-by-type", as_json(choice, numbers(choice)))
