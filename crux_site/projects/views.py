"""Projects: the list, and one with its datasets, members, invitations and log."""

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
from annotation.models.projects import MembershipRefused
from annotation.unique import save_unique
from crux_site.datasets.carried import NOT_CARRIED
from crux_site.exports.folders import one_file
from crux_site.exports.projects import export_project
from crux_site.projects.archive import archive_of
from crux_site.projects.forms import InvitationForm, MoveForm, NewProjectForm, RoleForm
from evaluation.csv_tables import csv_response

ENTRIES = 50


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def projects(request: AuthenticatedRequest) -> HttpResponseBase:
    """The projects that the reader is in, and a form for a new one, whose owner its maker is."""
    form = NewProjectForm(request.POST or None)
    if form.is_valid() and (made := save_unique(form, lambda: _created(form, request.user))):
        return redirect(made)
    listed = Project.objects.seen_by(request.user).annotate(n_datasets=Count("datasets"))
    context = {
        "projects": [(project, project.role_of(request.user)) for project in listed],
        "form": form,
        "room": "projects",
    }
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/projects/projects.html", context, status=status)


def _created(form: NewProjectForm, by: User) -> Project:
    made: Project = form.save()
    Membership.objects.create(project=made, user=by, role=Role.OWNER)
    ProjectEntry.record(made, by, "made the project")
    return made


@require_safe
@researchers_only
def project(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """One project."""
    return _page(request, _project(slug))


def _project(slug: str) -> Project:
    return get_object_or_404(Project, slug=slug)


def _page(
    request: AuthenticatedRequest, project: Project, status: int = 200, **told: Any
) -> HttpResponse:
    """The page of a project; `told` has a form that was refused, or the link that was made."""
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
        context |= {"archive": archive_of(project), "not_carried": NOT_CARRIED}
    template = "crux_site/projects/project.html"
    return render(request, template, context | told, status=status)


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
    return _changed(
        request, membership, form.cleaned_data["role"], f"{membership.user} is changed."
    )


@require_POST
@researchers_only
def leave(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """End the reader's own membership."""
    memberships = Membership.objects.select_related("project", "user")
    membership = get_object_or_404(memberships, project__slug=slug, user=request.user)
    return _changed(request, membership, "", f"You have left {membership.project}.")


def _changed(
    request: AuthenticatedRequest, membership: Membership, role: str, done: str
) -> HttpResponseBase:
    """Change a membership; show the project again, with the reason, where that is refused."""
    try:
        membership.change(role, request.user)
    except MembershipRefused as refused:
        return _page(request, membership.project, 422, refused=str(refused))
    messages.success(request, done)
    return redirect("projects" if membership.user == request.user else membership.project)


@never_cache
@require_POST
@owners_only
def invite(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """A link that lets one person in. It is shown this once."""
    project = _project(slug)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, project, 422, invite=form)
    for_whom, role = form.cleaned_data["for_whom"], form.cleaned_data["role"]
    with transaction.atomic():
        word = Invitation.objects.make(project, role, for_whom, request.user)
        ProjectEntry.record(project, request.user, "invited", f"{for_whom}, as {role}")
    link = request.build_absolute_uri(reverse("join", args=[word]))
    return _page(request, project, link=link, invited=for_whom)


@require_POST
@owners_only
def revoke(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """End an invitation that nobody has taken yet."""
    project = _project(slug)
    with transaction.atomic():
        Project.objects.lock(project.pk)  # whoever takes it now has the lock, and it is taken then
        invitation = get_object_or_404(project.invitations.open(), pk=pk)
        invitation.revoke(request.user)
    messages.success(request, f"The link for {invitation.for_whom} lets nobody in any more.")
    return redirect(project)


@require_POST
@owners_only
def move(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """A dataset goes to another project of the same owner, with its campaigns and judge runs."""
    project = _project(slug)
    form = MoveForm(project, request.user, request.POST)
    if not form.is_valid():
        return _page(request, project, 422, move=form)
    dataset, to = form.cleaned_data["dataset"], form.cleaned_data["to"]
    with transaction.atomic():
        dataset = Dataset.objects.lock(dataset.pk)
        if dataset.project_id != project.pk:
            form.add_error("dataset", f"Somebody has moved {dataset} to another project meanwhile.")
            return _page(request, project, 409, move=form)
        dataset.project = to
        dataset.save(update_fields=["project"])
        dataset.log.update(project=to)  # its history goes with it, and who reads it by a link
        dataset.shared_links.update(project=to)
        ended = dataset.shared_links.revoke_ownerless(request.user)
        ProjectEntry.record(project, request.user, "moved away", f"{dataset.slug}, to {to.slug}")
        ProjectEntry.record(to, request.user, "moved here", f"from {project.slug}", dataset)
    messages.success(request, f"{dataset} is in {to} now.")
    if ended:
        messages.warning(
            request, f"{ended} shared link{'s'[: ended > 1]} ended: the makers do not own {to}."
        )
    return redirect(project)


@require_safe
@owners_only
def log_csv(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Everything that was done to the project and its data, the newest first."""
    entries = _project(slug).log.select_related("by", "dataset")
    rows = [
        [entry.at.isoformat(), str(entry.by or ""), entry.action, entry.detail, entry.of_dataset]
        for entry in entries
    ]
    return csv_response(f"{slug}.log", ["at", "by", "action", "detail", "dataset"], rows)


@require_safe
@owners_only
def archived(request: AuthenticatedRequest, slug: str, name: str) -> HttpResponseBase:
    """What people said in a campaign of a dataset that was deleted, in full."""
    path = archive_of(_project(slug)).get(name)
    if path is None:
        raise Http404(f"There is no {name!r} in the archive.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)


@require_safe
@owners_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """All datasets of the project as one archive, for manage.py import_project on another site."""
    project = _project(slug)
    try:
        archive = one_file(partial(export_project, project), project.slug)
    except ExportError as error:
        return _page(request, project, 422, refused=f"The project cannot be exported: {error}.")
    name = f"{project.slug}.project.zip"
    return FileResponse(archive, as_attachment=True, filename=name, content_type="application/zip")
