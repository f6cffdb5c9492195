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
from building.making import Made, RunRefused, make_run
from building.retrieval.index import IndexBroken
from building.retrieval.recipe import RecipeError
from building.runs.forms import EXAMPLE, RunForm, offers_of
from building.runs.needs import needs_of
from building.runs.recipes import Described, described, of_line
from building.steps import KINDS, Kitchen
from evaluation.models import RetrievalRun

PARTS = ("fields", "needs")  # that a script asks for


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def run_new(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Make a run of all topics. The same recipe of the same data leads to the run that is there."""
    dataset = get_object_or_404(Dataset, slug=slug)
    offers = offers_of(dataset)
    if request.method != "POST":
        told = of_line(EXAMPLE, offers)
        return _page(request, dataset, RunForm(initial={"recipe": told.line}), told)
    told = described(request.POST, offers)
    sent = {**request.POST.dict(), "recipe": told.line}
    form = RunForm(sent)
    if "look" in request.POST:
        if not told.line and told.fields is None:
            told = of_line(EXAMPLE, offers)
            sent["recipe"] = told.line
        form = RunForm(initial=sent)
        return _page(request, dataset, form, told)
    if form.is_valid() and told.problem:
        form.add_error("recipe", told.problem)
    elif form.is_valid() and told.recipe and (made := _made(dataset, form)):
        if made.is_new:
            messages.success(request, f"The run {made.run} is made.")
        else:
            messages.info(request, f"This is the run {made.run}, which is there: nothing differs.")
        return redirect("run_made", slug, made.run.name)
    return _page(request, dataset, form, told, 422)


def _made(dataset: Dataset, form: RunForm) -> Made | None:
    """The run that a valid form describes; None, and an error at a field, where there is none."""
    asked = form.cleaned_data
    try:
        return make_run(dataset, asked["name"], asked["recipe"], Kitchen(dataset, most=AT_A_LOOK))
    except (RecipeError, NoIndex, IndexBroken, AnseriniError) as error:
        form.add_error("recipe", str(error))
    except RunRefused as error:
        form.add_error("name", str(error))
    return None


def _page(
    request: AuthenticatedRequest,
    dataset: Dataset,
    form: RunForm,
    told: Described,
    status: int = 200,
) -> HttpResponse:
    """The page, or what a script asks for: what a choice changes of it."""
    name = form["name"].value() or ""
    part = request.headers.get("HX-Target", "")
    context = {
        "room": "datasets",
        "dataset": dataset,
        "form": form,
        "told": told,
        "needs": needs_of(dataset, told.recipe, name) if told.recipe else None,
        "part": part,
        "kinds": [kind.says for kind in KINDS.values()],
    }
    template = "_changed.html" if part in PARTS else "run_new.html"
    return render(request, f"building/runs/{template}", context, status=status)


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
