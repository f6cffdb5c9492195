"""Systems by a mixed model: contrasts with a base system, and whether two are equivalent."""

from __future__ import annotations

from functools import partial

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from annotation.models.standard import ANSWERABLE
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError, select
from evaluation.http import json_file, refusal, selection_of, without_strangers
from evaluation.mixed_model.export import TABLES, as_json
from evaluation.mixed_model.page import model_report
from evaluation.mixed_model.params import ModelChoice, model_choice
from evaluation.scoring.system_values import outcomes


@require_safe
@researchers_only
def mixed_model(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    context = {
        "room": "datasets",
        "dataset": dataset,
        "choice": choice,
        "selection": choice.selection,
        "report": model_report(choice),
    }
    return render(request, "evaluation/mixed_model/mixed_model.html", context)


@require_safe
@researchers_only
def mixed_model_csv(request: AuthenticatedRequest, slug: str, table: str) -> HttpResponse:
    if table not in TABLES:
        raise Http404(f"There is no table “{table}” here. There are: {', '.join(TABLES)}.")
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    header, rows = TABLES[table](choice, model_report(choice))
    return csv_response(f"{slug}-mixed-model-{table}", header, rows)


@require_safe
@researchers_only
def mixed_model_json(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """All of the page as one object."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        choice = _choice(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    content = as_json(choice, model_report(choice))
    return json_file(f"{slug}-mixed-model", content)


def _choice(request: AuthenticatedRequest, dataset: Dataset) -> ModelChoice:
    return without_strangers(request.GET, partial(_chosen, dataset))


def _chosen(dataset: Dataset, words: QueryDict) -> ModelChoice:
    selection = selection_of(dataset, words)
    try:
        outcomes(selection)
    except SelectionError:
        if words.get("rubric"):
            raise
        selection = select(dataset, rubric=ANSWERABLE.slug, judge_by_default=True)
    return model_choice(selection, words)
