"""Making a retrieval run, and how one was made."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import Dataset
from building.anserini.jar import AnseriniError
from building.indexes import AT_A_LOOK, NoIndex
from building.making import RunRefused, make_run
from building.retrieval.index import IndexBroken
from building.retrieval.recipe import RecipeError
from building.runs.forms import RunForm
from building.steps import KINDS, Kitchen
from evaluation.models import RetrievalRun


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def run_new(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Make a run of all topics. The same recipe of the same data leads to the run that is there."""
    dataset = get_object_or_404(Dataset, slug=slug)
    if request.method != "POST":
        return _form(request, dataset, RunForm())
    form = RunForm(request.POST)
    if form.is_valid():
        asked = form.cleaned_data
        try:
            made = make_run(
                dataset, asked["name"], asked["recipe"], Kitchen(dataset, most=AT_A_LOOK)
            )
        except (RecipeError, NoIndex, IndexBroken, AnseriniError) as error:
            form.add_error("recipe", str(error))
        except RunRefused as error:
            form.add_error("name", str(error))
        else:
            if made.is_new:
                messages.success(request, f"The run {made.run} is made.")
            else:
                messages.info(
                    request, f"This is the run {made.run}, which is there: nothing differs."
                )
            return redirect("run_made", slug, made.run.name)
    return _form(request, dataset, form, 422)


def _form(
    request: AuthenticatedRequest, dataset: Dataset, form: RunForm, status: int = 200
) -> HttpResponse:
    context = {
        "room": "datasets",
        "dataset": dataset,
        "form": form,
        "kinds": [kind.says for kind in KINDS.values()],
    }
    return render(request, "building/runs/run_new.html", context, status=status)


@require_safe
@researchers_only
def run_made(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponse:
    """How a run was made and what came of it; of one that came in a file, that it did."""
    run = get_object_or_404(
        RetrievalRun.objects.select_related("dataset"), dataset__slug=slug, name=name
    )
    topics = run.dataset.topics.filter(ranked__run=run).annotate(n=Count("ranked"))
    context = {
        "room": "datasets",
        "dataset": run.dataset,
        "run": run,
        "topics": topics.order_by("position"),
        "unknown": sorted(run.origin.get("unknown_terms", {}).items()),
        "cut": sorted(run.origin.get("cut_passages", {}).items()),
        "left_out": sorted(run.origin.get("left_out", {}).items()),
    }
    return render(request, "building/runs/run.html", context)
