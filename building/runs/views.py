"""Views to create a retrieval run, and to show its provenance."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.errors import UserError
from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import Dataset
from building.indexes import PAGE_LIMIT
from building.run_creation import CreatedRun, RunCreationError, make_run
from building.runs.forms import EXAMPLE, RunForm, offers_of
from building.runs.needs import needs_of
from building.runs.recipes import RecipeState, of_line, recipe_state
from building.steps import KINDS, RecipeContext
from evaluation.models import RetrievalRun

PARTS = ("fields", "needs")  # that a script asks for


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def run_new(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Create a run of all topics, or redirect to the identical existing run."""
    dataset = get_object_or_404(Dataset, slug=slug)
    offers = offers_of(dataset)
    if request.method != "POST":
        description = of_line(EXAMPLE, offers)
        return _page(request, dataset, RunForm(initial={"recipe": description.line}), description)
    description = recipe_state(request.POST, offers)
    sent = {**request.POST.dict(), "recipe": description.line}
    form = RunForm(sent)
    if "look" in request.POST:
        if not description.line and description.fields is None:
            description = of_line(EXAMPLE, offers)
            sent["recipe"] = description.line
        form = RunForm(initial=sent)
        return _page(request, dataset, form, description)
    if form.is_valid() and description.problem:
        form.add_error("recipe", description.problem)
    elif form.is_valid() and description.recipe and (result := _make_run(dataset, form)):
        if result.is_new:
            messages.success(request, f"The run {result.run} is created.")
        else:
            messages.info(
                request, f"The run {result.run} with the same recipe and data exists already."
            )
        return redirect("run_provenance", slug, result.run.name)
    return _page(request, dataset, form, description, 422)


def _make_run(dataset: Dataset, form: RunForm) -> CreatedRun | None:
    """Create the run of a valid form; on failure add a form error and return None."""
    values = form.cleaned_data
    try:
        return make_run(
            dataset, values["name"], values["recipe"], RecipeContext(dataset, most=PAGE_LIMIT)
        )
    except RunCreationError as error:
        form.add_error("name", str(error))
    except UserError as error:
        form.add_error("recipe", str(error))
    return None


def _page(
    request: AuthenticatedRequest,
    dataset: Dataset,
    form: RunForm,
    description: RecipeState,
    status: int = 200,
) -> HttpResponse:
    """Render the page, or the fragment that a script asks for."""
    name = form["name"].value() or ""
    part = request.headers.get("HX-Target", "")
    context = {
        "room": "datasets",
        "dataset": dataset,
        "form": form,
        "told": description,
        "needs": needs_of(dataset, description.recipe, name) if description.recipe else None,
        "part": part,
        "kinds": [kind.says for kind in KINDS.values()],
    }
    template = "_changed.html" if part in PARTS else "run_new.html"
    return render(request, f"building/runs/{template}", context, status=status)


@require_safe
@researchers_only
def run_provenance(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponse:
    """Show the provenance and results of a run; an imported run is marked as one."""
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
