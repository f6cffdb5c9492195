"""Views of generation runs: create, show, and control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.errors import UserError
from annotation.http import AuthenticatedRequest, View, owners_only, researchers_only
from annotation.models import Dataset, User
from building.engine import writings
from building.formats import pairs
from building.models import Writer, Writing
from building.tasks import WRITING
from building.writing.tasks import TASKS, Task
from building.writings.forms import BudgetForm, WriterForm, WritingForm
from building.writings.page import page_of
from judging.execution import states
from judging.forms import focus


def _task(name: str) -> Task:
    if name not in TASKS:
        raise Http404(f"Nobody writes {name}.")
    return TASKS[name]


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def writing_new(request: AuthenticatedRequest, slug: str, task: str) -> HttpResponseBase:
    """Preview a generation run with its cost, and start it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    kind = _task(task)
    form = WritingForm(request.POST or None, task=kind, dataset=dataset, user=request.user)
    planned = None
    if form.is_valid():
        try:
            if "start" in request.POST:
                return redirect(_started(request, form))
            planned = writings.plan(form.chosen(), dataset, form.spec())
        except UserError as error:
            form.add_error(None, str(error))
    if form.is_bound:
        focus(form)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "task": kind,
        "form": form,
        "planned": planned,
    }
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(request, "building/writings/writing_new.html", context, status=status)


def _started(request: AuthenticatedRequest, form: WritingForm) -> Writing:
    run = writings.start(
        form.chosen(), form.dataset, form.spec(), created_by=request.user, **form.options()
    )
    transaction.on_commit(lambda: WRITING.wake(run))
    return run


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def writer_new(request: AuthenticatedRequest, slug: str, task: str) -> HttpResponseBase:
    """Create a writer: a model with a prompt. Writers are immutable."""
    dataset = get_object_or_404(Dataset, slug=slug)
    kind = _task(task)
    form = WriterForm(request.POST or None, task=kind, user=request.user)
    if form.is_valid():
        try:
            new_writer = form.made(created_by=request.user)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The writer {new_writer} is created.")
            return redirect("writing_new", slug, task)
    if form.is_bound:
        focus(form)
    context = {"room": "datasets", "dataset": dataset, "task": kind, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "building/writings/writer_new.html", context, status=status)


@require_safe
@researchers_only
def writer(request: AuthenticatedRequest, slug: str, writer: str) -> HttpResponseBase:
    """Show the definition of a writer."""
    dataset = get_object_or_404(Dataset, slug=slug)
    current = get_object_or_404(Writer.objects.visible_to(request.user), slug=writer)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "writer": current,
        "task": TASKS[current.task],
    }
    return render(request, "building/writings/writer.html", context)


def _writing(slug: str, pk: int) -> Writing:
    runs = Writing.objects.select_related("writer", "dataset", "created_by")
    return get_object_or_404(runs, pk=pk, dataset__slug=slug)


@require_safe
@researchers_only
@vary_on_headers("HX-Request")
def writing(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Show a generation run; htmx requests get the live part only."""
    run = _writing(slug, pk)
    WRITING.revive(run)
    name = "_live.html" if request.htmx else "writing.html"
    return render(request, f"building/writings/{name}", _context(request, run))


@require_safe
@researchers_only
def writing_pairs(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Export the accepted pairs of a writer, as an import reads them."""
    run = _writing(slug, pk)
    if run.writer.task != "pairs":
        raise Http404("This generation run has no pairs of a question and an answer.")
    lines = pairs.lines(run.dataset, run.writer.slug)
    name = f"{slug}-{run.writer.slug}.qac.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)


NOT_YOURS = "This generation run does not use a server of its project: only an admin of the site can change it."


def _writing_to_act_on(request: AuthenticatedRequest, slug: str, pk: int) -> Writing:
    run = _writing(slug, pk)
    if not _may_act_on(request.user, run):
        raise PermissionDenied(NOT_YOURS)
    return run


def _may_act_on(user: User, run: Writing) -> bool:
    """Return whether a user may pause, resume and cancel a generation run.

    As of judge runs: owners on servers of their project and on those of the baseline, admins on all.
    """
    of_project = (
        run.project_budget_id is not None or run.writer.backend == Writer.Backend.EXTRACTIVE
    )
    return user.is_admin or (user.owns and of_project)


def _context(
    request: AuthenticatedRequest, run: Writing, budget: BudgetForm | None = None
) -> dict[str, Any]:
    """Build the page's context, with the submitted budget form if it was invalid."""
    limits = {name: getattr(run, name) for name in BudgetForm.base_fields}
    return {
        "room": "datasets",
        "dataset": run.dataset,
        "run": run,
        "task": TASKS[run.writer.task],
        "shown": page_of(run),
        "may_act": _may_act_on(request.user, run),
        "budget": budget or BudgetForm(initial=limits),
    }


def _act(act: Callable[[Writing], Any], *, wakes: bool = False) -> View:
    """Create a view that applies an action to a generation run and reports refusals."""

    @require_POST
    @owners_only
    def view(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
        run = _writing_to_act_on(request, slug, pk)
        try:
            act(run)
        except states.RunStateError as error:
            messages.error(request, str(error))
        else:
            if wakes:
                transaction.on_commit(lambda: WRITING.wake(run))
        return redirect(run)

    return view


pause = _act(states.pause)
cancel = _act(states.cancel)
ask_again = _act(writings.retry_failed, wakes=True)
_resume = _act(writings.resume, wakes=True)


@require_POST
@owners_only
def resume(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Resume a run, with a new budget if the form has one; an empty field lifts a limit."""
    names = [name for name in BudgetForm.base_fields if name in request.POST]
    if not names:
        return _resume(request, slug, pk)
    run, form = _writing_to_act_on(request, slug, pk), BudgetForm(request.POST)
    if form.is_valid():
        try:
            writings.resume(run, **{name: form.cleaned_data[name] for name in names})
        except states.RunStateError as error:
            run = _writing(slug, pk)  # without the invalid values
            form.add_error(None, str(error))
        else:
            transaction.on_commit(lambda: WRITING.wake(run))
            return redirect(run)
    focus(form)
    context = _context(request, run, form)
    return render(request, "building/writings/writing.html", context, status=422)
