"""Writings: a new one, one as it goes, and what admins do to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.http import AuthenticatedRequest, View, admins_only, researchers_only
from annotation.models import Dataset
from building.engine import writings
from building.engine.choosing import WriterRefused
from building.engine.wanted import WantedError
from building.formats import pairs
from building.models import Writer, Writing
from building.tasks import WRITING
from building.writing.tasks import TASKS, Task
from building.writings.forms import BudgetForm, WriterForm, WritingForm
from building.writings.page import page_of
from evaluation.data.selection import SelectionError
from judging.engine import states
from judging.forms import focus

REFUSALS = (WantedError, SelectionError, states.RunRefused)


def _task(name: str) -> Task:
    if name not in TASKS:
        raise Http404(f"Nobody writes {name}.")
    return TASKS[name]


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def writing_new(request: AuthenticatedRequest, slug: str, task: str) -> HttpResponseBase:
    """Say what is to be written, see what is asked first and what it takes, and start it."""
    dataset = get_object_or_404(Dataset, slug=slug)
    kind = _task(task)
    form = WritingForm(request.POST or None, task=kind, dataset=dataset)
    planned = None
    if form.is_valid():
        try:
            if "start" in request.POST:
                return redirect(_started(request, form))
            planned = writings.plan(form.chosen(), dataset, form.wanted())
        except REFUSALS as error:
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
        form.chosen(), form.dataset, form.wanted(), created_by=request.user, **form.options()
    )
    transaction.on_commit(lambda: WRITING.wake(run))
    return run


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def writer_new(request: AuthenticatedRequest, slug: str, task: str) -> HttpResponseBase:
    """Make a writer: a model under a prompt. It never changes; another word is another writer."""
    dataset = get_object_or_404(Dataset, slug=slug)
    kind = _task(task)
    form = WriterForm(request.POST or None, task=kind)
    if form.is_valid():
        try:
            made = form.made(created_by=request.user)
        except WriterRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The writer {made} is made.")
            return redirect("writing_new", slug, task)
    if form.is_bound:
        focus(form)
    context = {"room": "datasets", "dataset": dataset, "task": kind, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "building/writings/writer_new.html", context, status=status)


@require_safe
@researchers_only
def writer(request: AuthenticatedRequest, slug: str, writer: str) -> HttpResponseBase:
    """All that shapes what a writer writes."""
    dataset = get_object_or_404(Dataset, slug=slug)
    found = get_object_or_404(Writer.objects.seen_by(request.user), slug=writer)
    context = {"room": "datasets", "dataset": dataset, "writer": found, "task": TASKS[found.task]}
    return render(request, "building/writings/writer.html", context)


def _writing(slug: str, pk: int) -> Writing:
    runs = Writing.objects.select_related("writer", "dataset", "created_by")
    return get_object_or_404(runs, pk=pk, dataset__slug=slug)


@require_safe
@researchers_only
@vary_on_headers("HX-Request")
def writing(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """A writing as it goes. Asked by its own script, the part that changes alone."""
    run = _writing(slug, pk)
    WRITING.revive(run)
    name = "_live.html" if request.htmx else "writing.html"
    return render(request, f"building/writings/{name}", _context(run))


@require_safe
@researchers_only
def writing_pairs(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """The accepted pairs of a writer, as an import reads them."""
    run = _writing(slug, pk)
    if run.writer.task != "pairs":
        raise Http404("This writing has no pairs of a question and its answer.")
    lines = pairs.lines(run.dataset, run.writer.slug)
    name = f"{slug}-{run.writer.slug}.qac.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)


def _context(run: Writing, budget: BudgetForm | None = None) -> dict[str, Any]:
    """What the page of a writing shows, with the budget that somebody has typed, if it could not be."""
    own = {name: getattr(run, name) for name in BudgetForm.base_fields}
    return {
        "room": "datasets",
        "dataset": run.dataset,
        "run": run,
        "task": TASKS[run.writer.task],
        "shown": page_of(run),
        "budget": budget or BudgetForm(initial=own),
    }


def _act(act: Callable[[Writing], Any], *, wakes: bool = False) -> View:
    """A view that does this to a writing, and says where it cannot be done."""

    @require_POST
    @admins_only
    def view(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
        run = _writing(slug, pk)
        try:
            act(run)
        except states.RunRefused as error:
            messages.error(request, str(error))
        else:
            if wakes:
                transaction.on_commit(lambda: WRITING.wake(run))
        return redirect(run)

    return view


pause = _act(states.pause)
cancel = _act(states.cancel)
ask_again = _act(writings.ask_again, wakes=True)
_resume = _act(writings.resume, wakes=True)


@require_POST
@admins_only
def resume(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Go on, with another budget where the form gives one; an empty field lifts a limit."""
    given = [name for name in BudgetForm.base_fields if name in request.POST]
    if not given:
        return _resume(request, slug, pk)
    run, form = _writing(slug, pk), BudgetForm(request.POST)
    if form.is_valid():
        try:
            writings.resume(run, **{name: form.cleaned_data[name] for name in given})
        except states.RunRefused as error:
            run = _writing(slug, pk)  # without what could not be
            form.add_error(None, str(error))
        else:
            transaction.on_commit(lambda: WRITING.wake(run))
            return redirect(run)
    focus(form)
    context = _context(run, form)
    return render(request, "building/writings/writing.html", context, status=422)
