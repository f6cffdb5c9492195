"""Projects: the list, and each with its datasets, members, invitations and log."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.formats.writing import ExportError
from annotation.http import AuthenticatedRequest, owners_only, researchers_only
from annotation.models import (
    Dataset,
    Invitation,
    Membership,
    Project,
    ProjectEntry,
    Role,
    User,
)
from annotation.models.projects import MembershipError
from annotation.unique import save_unique
from crux_site.datasets.export_scope import EXPORT_OMISSIONS
from crux_site.exports.folders import export_to_file
from crux_site.exports.projects import export_project
from crux_site.projects.archive import archive_of
from crux_site.projects.forms import InvitationForm, MoveForm, NewProjectForm, RoleForm
from evaluation.result_tables import csv_response

ENTRIES = 50


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def projects(request: AuthenticatedRequest) -> HttpResponseBase:
    """List the reader's projects; POST creates a project, and its creator is the owner."""
    form = NewProjectForm(request.POST or None)
    if form.is_valid() and (
        new_project := save_unique(form, lambda: _create_project(form, request.user))
    ):
        return redirect(new_project)
    listed = Project.objects.visible_to(request.user).annotate(n_datasets=Count("datasets"))
    context = {
        "projects": [(project, project.role_of(request.user)) for project in listed],
        "form": form,
        "room": "projects",
    }
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/projects/projects.html", context, status=status)


def _create_project(form: NewProjectForm, by: User) -> Project:
    project: Project = form.save()
    Membership.objects.create(project=project, user=by, role=Role.OWNER)
    ProjectEntry.record(project, by, "created the project")
    return project


@require_safe
@researchers_only
def project(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show a project."""
    return _page(request, _project(slug))


def _project(slug: str) -> Project:
    return get_object_or_404(Project, slug=slug)


def _page(
    request: AuthenticatedRequest, project: Project, status: int = 200, **overrides: Any
) -> HttpResponse:
    """Render the page of a project; `overrides` has a form that was refused, or a new link."""
    entries = project.log.select_related("by", "dataset")
    context: dict[str, Any] = {
        "project": project,
        "datasets": project.datasets.all(),
        "members": project.memberships.select_related("user"),
        "roles": Role.choices,
        "invitations": project.invitations.open().select_related("made_by"),
        "shared_links": project.shared_links.open().select_related("made_by", "dataset"),
        "page": Paginator(entries, ENTRIES).get_page(request.GET.get("page")),
        "room": "projects",
    }
    if request.user.owns:
        context |= {"invite": InvitationForm(), "move": MoveForm(project, request.user)}
        context |= {"archive": archive_of(project), "not_carried": EXPORT_OMISSIONS}
    template = "crux_site/projects/project.html"
    return render(request, template, context | overrides, status=status)


@require_POST
@owners_only
def member(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Give a member another role, or none."""
    membership = get_object_or_404(
        Membership.objects.select_related("project", "user"), project__slug=slug, pk=pk
    )
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _page(request, membership.project, 422, refused=form.errors["role"][0])
    return _change_role(
        request, membership, form.cleaned_data["role"], f"{membership.user} is changed."
    )


@require_POST
@researchers_only
def leave(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """End the reader's own membership."""
    memberships = Membership.objects.select_related("project", "user")
    membership = get_object_or_404(memberships, project__slug=slug, user=request.user)
    return _change_role(request, membership, "", f"You have left {membership.project}.")


def _change_role(
    request: AuthenticatedRequest, membership: Membership, role: str, done: str
) -> HttpResponseBase:
    """Change a membership; render the page with the reason if that is refused."""
    try:
        membership.change(role, request.user)
    except MembershipError as refused:
        return _page(request, membership.project, 422, refused=str(refused))
    messages.success(request, done)
    return redirect("projects" if membership.user == request.user else membership.project)


@never_cache
@require_POST
@owners_only
def invite(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Create an invitation link for one person; it is displayed once."""
    project = _project(slug)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, project, 422, invite=form)
    for_whom, role = form.cleaned_data["for_whom"], form.cleaned_data["role"]
    with transaction.atomic():
        token = Invitation.objects.make(project, role, for_whom, request.user)
        ProjectEntry.record(project, request.user, "invited", f"{for_whom}, as {role}")
    link = request.build_absolute_uri(reverse("join", args=[token]))
    return _page(request, project, link=link, invited=for_whom)


@require_POST
@owners_only
def revoke(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Revoke an invitation that is still open."""
    project = _project(slug)
    with transaction.atomic():
        Project.objects.lock(project.pk)  # whoever takes it now has the lock, and it is taken then
        invitation = get_object_or_404(project.invitations.open(), pk=pk)
        invitation.revoke(request.user)
    messages.success(request, f"The link for {invitation.for_whom} is revoked.")
    return redirect(project)


@require_POST
@owners_only
def move(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Move a dataset to another project of the owner, with its campaigns and judging runs."""
    project = _project(slug)
    form = MoveForm(project, request.user, request.POST)
    if not form.is_valid():
        return _page(request, project, 422, move=form)
    dataset, to = form.cleaned_data["dataset"], form.cleaned_data["to"]
    with transaction.atomic():
        dataset = Dataset.objects.lock(dataset.pk)
        if dataset.project_id != project.pk:
            form.add_error(
                "dataset", f"Somebody moved {dataset} to another project in the meantime."
            )
            return _page(request, project, 409, move=form)
        dataset.project = to
        dataset.save(update_fields=["project"])
        dataset.log.update(project=to)  # its history goes with it, and who reads it by a link
        dataset.shared_links.update(project=to)
        ended = dataset.shared_links.revoke_ownerless(request.user)
        ProjectEntry.record(project, request.user, "moved away", f"{dataset.slug}, to {to.slug}")
        ProjectEntry.record(to, request.user, "moved here", f"from {project.slug}", dataset)
    messages.success(request, f"{dataset} is moved to {to}.")
    if ended:
        messages.warning(
            request, f"{ended} shared link{'s'[: ended > 1]} ended: the makers do not own {to}."
        )
    return redirect(project)


@require_safe
@owners_only
def log_csv(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Send the log of the project as CSV, newest first."""
    entries = _project(slug).log.select_related("by", "dataset")
    rows = [
        [entry.at.isoformat(), str(entry.by or ""), entry.action, entry.detail, entry.of_dataset]
        for entry in entries
    ]
    return csv_response(f"{slug}.log", ["at", "by", "action", "detail", "dataset"], rows)


@require_safe
@owners_only
def archived(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponseBase:
    """Send the archived export of a campaign of a deleted dataset."""
    path = archive_of(_project(slug)).get(name)
    if path is None:
        raise Http404(f"There is no {name!r} in the archive.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)


@require_safe
@owners_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Send all datasets of the project as an archive for manage.py import_project."""
    project = _project(slug)
    try:
        archive = export_to_file(partial(export_project, project), project.slug)
    except ExportError as error:
        return _page(request, project, 422, refused=f"The project cannot be exported: {error}.")
    name = f"{project.slug}.project.zip"
    return FileResponse(archive, as_attachment=True, filename=name, content_type="application/zip")
