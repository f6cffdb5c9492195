"""Pages of judge runs: list, detail, new, and the steps of one."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.http import AuthenticatedRequest, View, is_key, owners_only, researchers_only
from annotation.models import Dataset, Project, Role, User
from judging.engine import progress, runs
from judging.engine.budget import estimate_of
from judging.engine.progress import progress_of
from judging.engine.selection import Selection, SelectionError
from judging.execution import states
from judging.forms import focus
from judging.llm.errors import Failure
from judging.models import Judge, JudgeRun
from judging.models.endpoint import budget_of
from judging.runs.forms import BASELINE, BudgetForm, RunForm, judges_for
from judging.runs.page import is_idle, run_page
from judging.tasks import JUDGING

PER_PAGE = 50
ALL_KINDS = "all"
NOT_YOURS = (
    "This run uses a server of the site's environment, or the site's own GPU: an admin of the site can pause, "
    "resume and cancel it."
)


@require_safe
@researchers_only
def judge_runs(request: AuthenticatedRequest) -> HttpResponseBase:
    """List runs, the newest first, filtered by dataset and state."""
    datasets = Dataset.objects.visible_to(request.user)
    runs = JudgeRun.objects.visible_to(request.user)
    runs = runs.select_related("judge__rater", "dataset", "created_by")
    slug, state = request.GET.get("dataset", ""), request.GET.get("state", "")
    if state not in JudgeRun.State.values:
        state = ""
    dataset = get_object_or_404(datasets, slug=slug) if slug else None
    if dataset:
        runs = runs.filter(dataset=dataset)
    if state:
        runs = runs.filter(state=state)
    page = Paginator(runs, PER_PAGE).get_page(request.GET.get("page"))
    listed = list(page.object_list)
    tallies = progress.by_run(listed)
    context = {
        "rows": [(run, tallies.get(run.pk, progress.NOTHING)) for run in listed],
        "idle": [run.pk for run in listed if is_idle(run)],
        "page": page,
        "dataset": dataset,
        "state": state,
        "states": JudgeRun.State.choices,
        "datasets": datasets,
        "startable": _startable(request.user, dataset),
        "query": f"dataset={slug}&state={state}&" if slug or state else "",
        "room": "judges",
    }
    return render(request, "judging/runs/runs.html", context)


def _startable(user: User, dataset: Dataset | None) -> list[Dataset]:
    """Return the datasets on which a user may start a run, at most that of the list."""
    owned = Dataset.objects.filter(project__in=Project.objects.owned_by(user))
    return list(owned.filter(pk=dataset.pk) if dataset else owned)


@require_safe
@researchers_only
@vary_on_headers("HX-Request")
def judge_run(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Show a run; for a request of its own script, only the parts that change."""
    runs = JudgeRun.objects.select_related("judge__rater", "judge__rubric", "dataset", "created_by")
    run = get_object_or_404(runs, pk=pk)
    JUDGING.revive(run)
    context = context_of(run) | {"may_act": may_act_on(request.user, run)}
    if request.htmx:
        context["live"] = True
        context["has_moved"] = request.GET.get("state") != run.state
        return render(request, "judging/runs/_live.html", context)
    return render(request, "judging/runs/run.html", context)


def context_of(run: JudgeRun, budget: BudgetForm | None = None) -> dict[str, Any]:
    """Return the context of a run's page, with the typed budget if it was invalid."""
    page = run_page(run)
    current = {name: getattr(run, name) for name in BudgetForm.base_fields}
    return {
        "run": run,
        "judge": run.judge,
        "shown": page,
        "progress": page.progress,
        "selection": Selection.from_json(run.selection),
        "budget": budget or BudgetForm(initial=current),
        "room": "judges",
    }


@require_safe
@researchers_only
def failures(request: AuthenticatedRequest, pk: int, kind: str) -> HttpResponseBase:
    """List the replies of a run without a grade, of one kind or of all, as received."""
    if kind != ALL_KINDS and kind not in list(Failure):
        raise Http404(f"There is no kind of failure {kind!r}.")
    runs = JudgeRun.objects.select_related("judge__rater", "dataset")
    run = get_object_or_404(runs, pk=pk)
    replies = progress.failed_replies(run)
    if kind != ALL_KINDS:
        replies = replies.filter(failure=kind)
    context = {
        "run": run,
        "judge": run.judge,
        "kind": "" if kind == ALL_KINDS else kind,
        "page": Paginator(replies.order_by("-id"), PER_PAGE).get_page(request.GET.get("page")),
        "room": "judges",
    }
    return render(request, "judging/runs/failures.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def judge_run_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Choose judge and texts of a run, show the estimate, and start it."""
    slug = request.POST.get("dataset") or request.GET.get("dataset", "")
    datasets = Dataset.objects.visible_to(request.user).select_related("project")
    dataset = get_object_or_404(datasets, slug=slug.replace("\x00", ""))
    if not dataset.project.allows(request.user, Role.OWNER):
        raise PermissionDenied(
            f"Judging runs are started by owners of {dataset.project}, and by admins of the site. The "
            "page of the project names its owners."
        )
    form = RunForm(
        request.POST or None,
        dataset=dataset,
        user=request.user,
        initial=_beginning(request, dataset),
    )
    counted = open_run = None
    if form.is_valid():
        judge = form.chosen()
        try:
            if "start" in request.POST:
                return redirect(_started(request, form, judge))
            counted = estimate_of(judge, dataset, form.selection(), form.prices())
        except SelectionError as error:
            form.add_error(None, str(error))
        except states.RunStateError as error:
            form.add_error(None, str(error))
            open_run = runs.open_run(judge, dataset)
    if form.is_bound:
        focus(form)
    context = {
        "form": form,
        "dataset": dataset,
        "counted": counted,
        "open_run": open_run,
        "exhausted": budget_of(dataset.project).exhausted(),
        "room": "judges",
    }
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "judging/runs/run_new.html", context, status=status)


@transaction.atomic
def _started(request: AuthenticatedRequest, form: RunForm, judge: Judge) -> JudgeRun:
    run = runs.start(
        judge, form.dataset, form.selection(), created_by=request.user, **form.options()
    )
    transaction.on_commit(lambda: JUDGING.wake(run))
    return run


def _beginning(request: AuthenticatedRequest, dataset: Dataset) -> dict[str, str]:
    """Return the judge in the URL, if it may judge here; else the baseline."""
    requested = request.GET.get("judge", "")
    is_allowed = (
        is_key(requested) and judges_for(dataset, request.user).filter(pk=requested).exists()
    )
    return {"judge": requested if is_allowed else BASELINE}


Act = Callable[[AuthenticatedRequest, JudgeRun], JudgeRun]


def _on_run(act: Act) -> View:
    """Decorate a POST on a run with permission check, error message and redirect."""

    @wraps(act)
    def view(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
        run = _run_to_act_on(request, pk)
        try:
            return redirect(act(request, run))
        except states.RunStateError as error:
            messages.error(request, str(error))
            return redirect(run)

    return view


def _run(pk: int) -> JudgeRun:
    every_run = JudgeRun.objects.select_related("judge__rater", "judge__rubric", "dataset")
    return get_object_or_404(every_run, pk=pk)


def _run_to_act_on(request: AuthenticatedRequest, pk: int) -> JudgeRun:
    run = _run(pk)
    if not may_act_on(request.user, run):
        raise PermissionDenied(NOT_YOURS)
    return run


def may_act_on(user: User, run: JudgeRun) -> bool:
    """Return whether a user may pause, resume and cancel a run.

    Owners act on runs on their project's servers and on those of the baseline, admins on all.
    """
    of_project = run.project_budget_id is not None or run.judge.backend == Judge.Backend.LEXICAL
    return user.is_admin or (user.owns and of_project)


@require_POST
@owners_only
@_on_run
def pause(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    """Pause a run: no worker takes another pair; what is in flight is finished."""
    states.pause(run, f"Paused by {request.user.username}.")
    messages.success(request, "The run is paused. Replies to requests already sent are kept.")
    return run


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def cancel(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Confirm, if no script has, then cancel the run."""
    if request.method == "POST":
        return _cancelled(request, pk)
    run = _run_to_act_on(request, pk)
    context = {"run": run, "judge": run.judge, "progress": progress_of(run), "room": "judges"}
    return render(request, "judging/runs/run_cancel.html", context)


@_on_run
def _cancelled(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    states.cancel(run)
    messages.success(request, "The run is cancelled. All grades are kept.")
    return run


@require_POST
@owners_only
def resume(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Resume a run, with another budget if given; an empty field removes a limit.

    An invalid budget is shown again as typed, with its errors.
    """
    typed = any(name in request.POST for name in BudgetForm.base_fields)
    return _resumed_with(request, _run_to_act_on(request, pk)) if typed else _resumed(request, pk)


@_on_run
def _resumed(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    if is_idle(run):
        JUDGING.revive(run)
        messages.success(
            request,
            "The run waits for a worker. If none is running, start one: manage.py judge_worker.",
        )
        return run
    _go_on(request, run, {})
    return run


def _resumed_with(request: AuthenticatedRequest, run: JudgeRun) -> HttpResponseBase:
    form = BudgetForm(request.POST)
    if form.is_valid():
        typed = form.cleaned_data.items()
        try:
            _go_on(request, run, {name: value for name, value in typed if name in request.POST})
        except states.RunStateError as error:
            run = _run(run.pk)
            form.add_error(None, str(error))
        else:
            return redirect(run)
    focus(form)
    return render(
        request, "judging/runs/run.html", context_of(run, form) | {"may_act": True}, status=422
    )


def _go_on(request: AuthenticatedRequest, run: JudgeRun, budget: dict[str, Any]) -> None:
    with transaction.atomic():
        runs.resume(run, **budget)
        transaction.on_commit(lambda: JUDGING.wake(run))
    messages.success(request, "The run continues.")


@require_POST
@owners_only
@_on_run
def retry(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    """Start a run that asks only for pairs without a grade, with this run's options."""
    if run.test:
        raise states.RunStateError(
            "A test is not retried: replies without a grade are in its result."
        )
    selection = replace(
        Selection.from_json(run.selection), retry=True, limit=None, failed_in=run.pk
    )
    same = (
        *("endpoint", "concurrency", "reply_seconds", "workers"),
        *("max_pairs", "max_tokens", "max_money", "price_in", "price_out", "currency"),
    )
    with transaction.atomic():
        options = {name: getattr(run, name) for name in same}
        new = runs.start(run.judge, run.dataset, selection, created_by=request.user, **options)
        transaction.on_commit(lambda: JUDGING.wake(new))
    messages.success(request, f"This run retries the pairs that failed in judge run {run.pk}.")
    return new
