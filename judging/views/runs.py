"""Judge runs: all of them, and one as it goes."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from judging import tallies, tasks
from judging.forms.runs import BudgetForm
from judging.grading.pairs import Failure
from judging.models import Attempt, JudgeRun
from judging.run_page import run_page
from judging.selection import Selection

PER_PAGE = 50
ALL_KINDS = "all"


@require_safe
@researchers_only
def judge_runs(request: AuthenticatedRequest) -> HttpResponseBase:
    """All runs, the newest first; those of one dataset, judge or state if that is asked for."""
    runs = JudgeRun.objects.select_related("judge__rater", "dataset", "created_by")
    slug, state = request.GET.get("dataset", ""), request.GET.get("state", "")
    if state not in JudgeRun.State.values:
        state = ""
    dataset = get_object_or_404(Dataset, slug=slug) if slug else None
    if dataset:
        runs = runs.filter(dataset=dataset)
    if state:
        runs = runs.filter(state=state)
    page = Paginator(runs, PER_PAGE).get_page(request.GET.get("page"))
    shown = list(page.object_list)
    said = tallies.by_run(shown)
    context = {
        "rows": [(run, said.get(run.pk, tallies.NOTHING)) for run in shown],
        "page": page,
        "dataset": dataset,
        "state": state,
        "states": JudgeRun.State.choices,
        "datasets": Dataset.objects.all(),
        "query": f"dataset={slug}&state={state}&" if slug or state else "",
        "room": "judges",
    }
    return render(request, "judging/runs.html", context)


@require_safe
@researchers_only
@vary_on_headers("HX-Request")
def judge_run(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """One run. Asked by its own script, the parts that change alone."""
    runs = JudgeRun.objects.select_related("judge__rater", "judge__rubric", "dataset", "created_by")
    run = get_object_or_404(runs, pk=pk)
    tasks.revive(run)
    context = context_of(run)
    if request.htmx:
        context["live"] = True
        context["has_moved"] = request.GET.get("state") != run.state
        return render(request, "judging/_run_live.html", context)
    return render(request, "judging/run.html", context)


def context_of(run: JudgeRun, budget: BudgetForm | None = None) -> dict[str, Any]:
    """What the page of a run shows, with the budget that somebody has typed, if it could not be."""
    shown = run_page(run)
    own = {name: getattr(run, name) for name in BudgetForm.base_fields}
    return {
        "run": run,
        "judge": run.judge,
        "shown": shown,
        "progress": shown.progress,
        "selection": Selection.from_json(run.selection),
        "budget": budget or BudgetForm(initial=own),
        "room": "judges",
    }


@require_safe
@researchers_only
def failures(request: AuthenticatedRequest, pk: int, kind: str) -> HttpResponseBase:
    """The replies of a run without a grade, of one kind or of all, each as it came."""
    if kind != ALL_KINDS and kind not in list(Failure):
        raise Http404(f"There is no kind of failure {kind!r}.")
    runs = JudgeRun.objects.select_related("judge__rater", "dataset")
    run = get_object_or_404(runs, pk=pk)
    failed = Attempt.objects.filter(batch__run=run).exclude(state="graded")
    if kind != ALL_KINDS:
        failed = failed.filter(failure=kind)
    replies = failed.select_related("question", "text__topic", "batch").defer("text__body")
    context = {
        "run": run,
        "judge": run.judge,
        "kind": "" if kind == ALL_KINDS else kind,
        "page": Paginator(replies.order_by("-id"), PER_PAGE).get_page(request.GET.get("page")),
        "room": "judges",
    }
    return render(request, "judging/failures.html", context)
