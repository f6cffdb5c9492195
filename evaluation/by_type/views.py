"""Recall by the type of the question, over the weight of a lexical run beside a dense one."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.by_type.chart import curves
from evaluation.by_type.export import as_json, recall_table
from evaluation.by_type.page import by_type as numbers
from evaluation.by_type.params import ByTypeChoice, by_type_choice
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError
from evaluation.http import json_file, refusal


@require_safe
@researchers_only
def by_type(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    context = {"room": "datasets", "dataset": dataset}
    try:
        choice = by_type_choice(dataset, request.GET.dict())
        if choice:
            found = numbers(choice)
            context |= {
                "choice": choice,
                "found": found,
                "curves": curves(found.rows, choice.weights),
            }
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return render(request, "evaluation/by_type/by_type.html", context)


@require_safe
@researchers_only
def by_type_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
        return csv_response(f"{slug}-by-type", *recall_table(choice, numbers(choice)))
    except SelectionError as error:
        return refusal(request, dataset, str(error))


@require_safe
@researchers_only
def by_type_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All of the page as one object."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
        return json_file(f"{slug}-by-type", as_json(choice, numbers(choice)))
    except SelectionError as error:
        return refusal(request, dataset, str(error))


def _choice(request: AuthenticatedRequest, dataset: Dataset) -> ByTypeChoice:
    choice = by_type_choice(dataset, request.GET.dict())
    if choice is None:
        raise Http404("There are not two runs to join.")
    return choice
