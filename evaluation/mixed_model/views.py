"""Systems by a mixed model: contrasts with a base system, and whether two are equivalent."""

from __future__ import annotations

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from annotation.models import Dataset
from annotation.models.standard import ANSWERABLE
from evaluation.csv_tables import csv_response
from evaluation.data.selection import SelectionError, select
from evaluation.http import chosen, json_file, selection_of
from evaluation.mixed_model.export import TABLES, as_json
from evaluation.mixed_model.page import model_report
from evaluation.mixed_model.params import ModelChoice, model_choice
from evaluation.scoring.system_values import outcomes


def _choice(dataset: Dataset, words: QueryDict) -> ModelChoice:
    selection = selection_of(dataset, words)
    try:
        outcomes(selection)
    except SelectionError:
        if words.get("rubric"):
            raise
        selection = select(dataset, rubric=ANSWERABLE.slug, judge_by_default=True)
    return model_choice(selection, words)


of_model = chosen(_choice)


@of_model
def mixed_model(request: AuthenticatedRequest, choice: ModelChoice) -> HttpResponse:
    context = {
        "room": "datasets",
        "dataset": choice.selection.dataset,
        "choice": choice,
        "selection": choice.selection,
        "report": model_report(choice),
    }
    return render(request, "evaluation/mixed_model/mixed_model.html", context)


@of_model
def mixed_model_csv(request: AuthenticatedRequest, choice: ModelChoice, table: str) -> HttpResponse:
    if table not in TABLES:
        raise Http404(f"There is no table “{table}” here. There are: {', '.join(TABLES)}.")
    header, rows = TABLES[table](choice, model_report(choice))
    return csv_response(f"{choice.selection.dataset.slug}-mixed-model-{table}", header, rows)


@of_model
def mixed_model_json(request: AuthenticatedRequest, choice: ModelChoice) -> HttpResponse:
    """All of the page as one object."""
    content = as_json(choice, model_report(choice))
    return json_file(f"{choice.selection.dataset.slug}-mixed-model", content)
