"""Pages of accounts: list, creation, role and login."""

from django.contrib import messages
from django.db import transaction
from django.db.models import Count
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest, admins_only
from annotation.models import Project, Role, User
from annotation.people.forms import NewPersonForm, PersonForm
from annotation.unique import save_unique


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def people(request: AuthenticatedRequest) -> HttpResponseBase:
    """List all accounts, with a form for a new one. Guests are on their campaign's page."""
    form = NewPersonForm(request.POST or None)
    if form.is_valid() and (account := save_unique(form, form.save)):
        messages.success(request, f"{account.username} can log in as {account.get_role_display()}.")
        return redirect("people")
    accounts = (
        User.objects.filter(is_guest=False)
        .order_by("username")
        .annotate(n_ratings=Count("rater__ratings"))
    )
    context = {"people": accounts, "form": form, "room": "site_settings"}
    status = 422 if form.is_bound else 200
    return render(request, "annotation/people/people.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def person(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Edit an account: its role, login and password."""
    account = get_object_or_404(User, pk=pk, is_guest=False)
    form = PersonForm(instance=account)
    if request.method == "POST":
        form, ownerless = _change(request, account)
        if form.is_valid():
            messages.success(request, f"{account.username} is changed.")
            for project in ownerless:
                messages.warning(
                    request, f"{project} has no active owner now: appoint one.", "warned"
                )
            return redirect("people")
    context = {"account": account, "form": form, "room": "site_settings"}
    status = (409 if form.conflicts else 422) if form.is_bound else 200
    return render(request, "annotation/people/person.html", context, status=status)


@transaction.atomic
def _change(request: AuthenticatedRequest, user: User) -> tuple[PersonForm, list[Project]]:
    """Save a valid form; return it, and the projects left without an active owner.

    An account can always be disabled, at once: admins own every project. Its projects are locked
    first, as for every change of who owns one.
    """
    projects = Project.objects.lock_those_of(user)
    account = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    account.changed_by = request.user
    form = PersonForm(request.POST, instance=account)
    if form.is_valid():
        form.save()
    owned = account.memberships.filter(role=Role.OWNER).values_list("project", flat=True)
    return form, [
        project for project in projects if project.pk in owned and not project.owners().exists()
    ]
