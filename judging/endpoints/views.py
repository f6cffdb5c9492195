"""Model servers of a project: list, form, connection test, and the budget for them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.form_versions import for_post, locked_post
from annotation.http import (
    AuthenticatedRequest,
    admins_only,
    never_redisplayed,
    owners_only,
)
from annotation.models import Project, ProjectEntry
from annotation.row_versions import VERSION
from annotation.unique import save_unique
from judging.endpoints.forms import EndpointForm, ProjectBudgetForm, preset_values
from judging.engine.endpoints import address_of
from judging.forms import focus
from judging.grading.presets import PRESETS
from judging.llm.connection_check import ConnectionCheck, check_connection
from judging.llm.errors import BackendError
from judging.llm.server_presets import SERVER_PRESETS
from judging.models import Endpoint, JudgeRun, OutboundPolicy, ProjectBudget
from judging.models.endpoint import budget_of


@require_safe
@owners_only
def endpoints(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The servers of a project, and its budget for judging on them."""
    return _list(request, _project(slug))


def _list(
    request: AuthenticatedRequest,
    project: Project,
    budget_form: ProjectBudgetForm | None = None,
    status: int = 200,
) -> HttpResponseBase:
    budget = budget_of(project)
    is_admin = request.user.is_admin
    context = {
        "project": project,
        "endpoints": project.endpoints.all(),
        "environment": sorted(settings.JUDGE_ENDPOINTS) if is_admin else [],
        "budget": budget,
        "exhausted": budget.exhausted(),
        "budget_form": budget_form or (ProjectBudgetForm(instance=budget) if is_admin else None),
        "policy": OutboundPolicy.current(),
        "room": "projects",
    }
    return render(request, "judging/endpoints/endpoints.html", context, status=status)


@never_redisplayed
@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def endpoint_new(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Add a server. The button beside the kind of server fills in what a preset knows."""
    project = _project(slug)
    if request.method != "POST":
        name = request.GET.get("preset", "")
        initial = preset_values(name) if name in SERVER_PRESETS else {}
        return _form(request, project, EndpointForm(project=project, initial=initial))
    if "fill" in request.POST:
        return _form(request, project, _filled(request, project, None))
    form = EndpointForm(request.POST, project=project)
    form.instance.created_by = request.user
    if form.is_valid() and (created := save_unique(form, form.save)):
        ProjectEntry.record(project, request.user, "added a model server", created.name)
        messages.success(request, f"The server {created} is saved. Test the connection now.")
        return redirect("endpoint", slug, created.pk)
    focus(form)
    return _form(request, project, form, 422)


@never_redisplayed
@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
@locked_post
def endpoint(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Edit a server. An empty key keeps the stored one."""
    project = _project(slug)
    row = get_object_or_404(for_post(request, Endpoint.objects.filter(project=project)), pk=pk)
    if request.method != "POST":
        return _form(request, project, EndpointForm(project=project, instance=row))
    if "fill" in request.POST:
        return _form(request, project, _filled(request, project, row))
    form = EndpointForm(request.POST, project=project, instance=row)
    if form.is_valid() and (stored := save_unique(form, form.save)):
        ProjectEntry.record(project, request.user, "changed a model server", stored.name)
        messages.success(request, f"The server {stored} is saved.")
        return redirect("endpoint", slug, pk)
    focus(form)
    return _form(request, project, form, 409 if form.conflicts else 422)


def _filled(request: AuthenticatedRequest, project: Project, row: Endpoint | None) -> EndpointForm:
    """Return the form as typed, except the key, with the values of the chosen preset.

    It carries the version of the page that was sent, so that a save since then is still noticed.
    """
    fields = EndpointForm.base_fields
    typed: dict[str, Any] = {
        name: request.POST.get(name, "").replace("\x00", "") for name in fields
    }
    if typed["preset"] in SERVER_PRESETS:
        typed |= preset_values(typed["preset"])
    form = EndpointForm(project=project, instance=row, initial=typed | {"key": ""})
    form.version = request.POST.get(VERSION, form.version)
    return form


def _form(
    request: AuthenticatedRequest,
    project: Project,
    form: EndpointForm,
    status: int = 200,
    result: ConnectionCheck | None = None,
    problem: str = "",
) -> HttpResponseBase:
    preset = SERVER_PRESETS.get(str(form["preset"].value() or ""))
    context = {
        "project": project,
        "form": form,
        # The fields of a bound form have changed its instance: what is stored is asked for here.
        "row": project.endpoints.filter(pk=form.instance.pk).first(),
        "preset": preset,
        "request_presets": [PRESETS[name].title for name in preset.request_presets]
        if preset
        else [],
        "result": result,
        "problem": problem,
        "tested_model": request.POST.get("model", "")[:250].replace("\x00", ""),
        "room": "projects",
    }
    return render(request, "judging/endpoints/endpoint.html", context, status=status)


@require_POST
@owners_only
def endpoint_test(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Test a stored server: list its models and ask one for a word.

    The tokens are charged to the project's budget.
    """
    project = _project(slug)
    row = get_object_or_404(Endpoint.objects.select_related("project"), project=project, pk=pk)
    form = EndpointForm(project=project, instance=row)
    model = request.POST.get("model", "").replace("\x00", "").strip()[:250]
    preset = SERVER_PRESETS.get(row.preset)
    try:
        result = check_connection(address_of(row), model, preset.limit if preset else "max_tokens")
    except BackendError as error:
        return _form(request, project, form, problem=str(error))
    if budget := ProjectBudget.objects.filter(project=project).first():
        read, written = result.prompt_tokens, result.completion_tokens
        money = (read * row.price_in + written * row.price_out) / 1_000_000
        ProjectBudget.charge(budget.pk, read + written, money)
    return _form(request, project, form, result=result)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
@locked_post
def endpoint_delete(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Confirm, then delete a server with its key.

    Runs on it pause and say why.
    """
    project = _project(slug)
    rows = Endpoint.objects.filter(project=project).select_related("project")
    row = get_object_or_404(for_post(request, rows), pk=pk)
    if request.method == "POST":
        ProjectEntry.record(project, request.user, "deleted a model server", row.name)
        row.delete()
        messages.success(request, f"The server {row} and its key are deleted.")
        return redirect("endpoints", slug)
    runs = JudgeRun.objects.filter(endpoint=row.reference, state__in=JudgeRun.OPEN)
    context = {"project": project, "row": row, "n_runs": runs.count(), "room": "projects"}
    return render(request, "judging/endpoints/endpoint_delete.html", context)


@require_POST
@admins_only
def project_budget(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Set what judging on the project's own servers may take."""
    project = _project(slug)
    with transaction.atomic():
        ProjectBudget.objects.get_or_create(project=project)
        budget = ProjectBudget.objects.select_for_update().get(project=project)
        form = ProjectBudgetForm(request.POST, instance=budget)
        if form.is_valid():
            stored: ProjectBudget = form.save(commit=False)
            stored.save(update_fields=[*form.Meta.fields])
            ProjectEntry.record(project, request.user, "set the judging budget", _limits(stored))
    if form.is_valid():
        messages.success(request, f"The budget of {project} is saved.")
        return redirect("endpoints", slug)
    focus(form)
    return _list(request, project, form, 409 if form.conflicts else 422)


def _limits(budget: ProjectBudget) -> str:
    limits = []
    if budget.max_tokens is not None:
        limits.append(f"{budget.max_tokens:,} tokens")
    if budget.max_money is not None:
        limits.append(f"{budget.max_money:,.2f} {budget.currency}")
    return ", ".join(limits) or "none"


def _project(slug: str) -> Project:
    return get_object_or_404(Project, slug=slug)
