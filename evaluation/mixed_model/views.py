"""Views of the mixed model: contrasts with a base system, and tests of equivalence."""

from __future__ import annotations

from django.http import HttpResponse, QueryDict
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from annotation.models import Dataset
from annotation.models.standard import ANSWERABLE
from evaluation.data.selection import SelectionError, select
from evaluation.http import chosen, json_file, parse_selection, table_called
from evaluation.mixed_model.export import TABLES, as_json
from evaluation.mixed_model.page import CONFOUNDED, model_report
from evaluation.mixed_model.query import ModelQuery
from evaluation.result_tables import table_file
from evaluation.scoring.system_values import outcomes


def _choice(dataset: Dataset, params: QueryDict) -> ModelQuery:
    selection = parse_selection(dataset, params)
    try:
        outcomes(selection)
    except SelectionError:
        if params.get("rubric"):
            raise
        selection = select(dataset, rubric=ANSWERABLE.slug, judge_by_default=True)
    return ModelQuery(selection, params).parse()


of_model = chosen(_choice)


@of_model
def mixed_model(request: AuthenticatedRequest, choice: ModelQuery) -> HttpResponse:
    context = {
        "room": "datasets",
        "dataset": choice.selection.dataset,
        "choice": choice,
        "selection": choice.selection,
        "report": model_report(choice),
        "confounded": CONFOUNDED,
    }
    return render(request, "evaluation/mixed_model/mixed_model.html", context)


@of_model
def mixed_model_table_file(
    request: AuthenticatedRequest, choice: ModelQuery, table: str, file_format: str
) -> HttpResponse:
    dataset = choice.selection.dataset
    return table_file(
        request,
        file_format,
        table_called(table, TABLES)(choice, model_report(choice)),
        name=f"{dataset.slug}-mixed-model-{table}",
        caption=f"Mixed model of {dataset.title}: {table}",
    )


@of_model
def mixed_model_json(request: AuthenticatedRequest, choice: ModelQuery) -> HttpResponse:
    """Return the whole page as a JSON file."""
    content = as_json(choice, model_report(choice))
    return json_file(f"{choice.selection.dataset.slug}-mixed-model", content)
