"""What admins do to a run: pause it, cancel it, let it go on, ask again what failed."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.http import AuthenticatedRequest, View, admins_only
from judging import runs, tasks
from judging.forms.judges import focus
from judging.forms.runs import BudgetForm
from judging.models import JudgeRun
from judging.progress import progress_of
from judging.selection import Selection
from judging.views.runs import context_of

Act = Callable[[AuthenticatedRequest, JudgeRun], JudgeRun]


def _on_run(act: Act) -> View:
    """An admin's POST about a run; then the page of the run that it leads to, saying what was done."""

    @wraps(act)
    def view(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
        run = _run(pk)
        try:
            return redirect(act(request, run))
        except runs.RunRefused as error:
            messages.error(request, str(error))
            return redirect(run)

    return view


def _run(pk: int) -> JudgeRun:
    found = JudgeRun.objects.select_related("judge__rater", "judge__rubric", "dataset")
    return get_object_or_404(found, pk=pk)


@require_POST
@admins_only
@_on_run
def pause(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    """No worker takes another pair; what is in flight is finished."""
    runs.pause(run, f"Paused by {request.user.username}.")
    messages.success(request, "The run is paused. What is at the judge now is still kept.")
    return run


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def cancel(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Asks whether it is meant, where no script has asked already; then ends the run."""
    if request.method == "POST":
        return _cancelled(request, pk)
    run = _run(pk)
    context = {"run": run, "judge": run.judge, "progress": progress_of(run), "room": "judges"}
    return render(request, "judging/run_cancel.html", context)


@_on_run
def _cancelled(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    runs.cancel(run)
    messages.success(request, "The run is cancelled. Every grade so far is kept.")
    return run


@require_POST
@admins_only
def resume(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Go on, with another budget where the form gives one; an empty field lifts a limit.

    A budget that cannot be is shown again as it was typed, with what is wrong with it.
    """
    typed = any(name in request.POST for name in BudgetForm.base_fields)
    return _resumed_with(request, _run(pk)) if typed else _resumed(request, pk)


@_on_run
def _resumed(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    _go_on(request, run, {})
    return run


def _resumed_with(request: AuthenticatedRequest, run: JudgeRun) -> HttpResponseBase:
    form = BudgetForm(request.POST)
    if form.is_valid():
        typed = form.cleaned_data.items()
        try:
            _go_on(request, run, {name: value for name, value in typed if name in request.POST})
        except runs.RunRefused as error:
            run = _run(run.pk)
            form.add_error(None, str(error))
        else:
            return redirect(run)
    focus(form)
    return render(request, "judging/run.html", context_of(run, form), status=422)


def _go_on(request: AuthenticatedRequest, run: JudgeRun, budget: dict[str, Any]) -> None:
    with transaction.atomic():
        runs.resume(run, **budget)
        transaction.on_commit(lambda: tasks.wake(run))
    messages.success(request, "The run goes on.")


@require_POST
@admins_only
@_on_run
def retry(request: AuthenticatedRequest, run: JudgeRun) -> JudgeRun:
    """A new run that asks only for pairs without a grade, where and as this one did."""
    selection = replace(
        Selection.from_json(run.selection), retry=True, limit=None, failed_in=run.pk
    )
    same = (
        *("endpoint", "concurrency", "workers", "max_pairs", "max_tokens", "max_money"),
        *("price_in", "price_out", "currency"),
    )
    with transaction.atomic():
        options = {name: getattr(run, name) for name in same}
        new = runs.start(run.judge, run.dataset, selection, created_by=request.user, **options)
        transaction.on_commit(lambda: tasks.wake(new))
    messages.success(
        request, f"This run asks again for the pairs that failed in judge run {run.pk}."
    )
    return new
