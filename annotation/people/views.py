"""Accounts: who may come in, and as what."""

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.form_versions import for_post, locked_post
from annotation.http import AuthenticatedRequest, admins_only
from annotation.models import User
from annotation.people.forms import NewPersonForm, PersonForm


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def people(request: AuthenticatedRequest) -> HttpResponseBase:
    """All accounts, and a form for a new one. Guests of campaigns are on their campaign's page."""
    form = NewPersonForm(request.POST or None)
    if form.is_valid():
        try:
            with transaction.atomic():
                made = form.save()
        except IntegrityError:  # another admin was quicker
            form.add_error("username", "Somebody has just made an account of this name.")
        else:
            messages.success(request, f"{made.username} can log in as {made.get_role_display()}.")
            return redirect("people")
    accounts = (
        User.objects.filter(is_guest=False)
        .order_by("username")
        .annotate(n_ratings=Count("rater__ratings"))
    )
    context = {"people": accounts, "form": form, "room": "people"}
    status = 422 if form.is_bound else 200
    return render(request, "annotation/people/people.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
@locked_post
def person(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """One account: its role, whether it may log in, a new password."""
    account = get_object_or_404(for_post(request, User.objects.all()), pk=pk, is_guest=False)
    form = PersonForm(request.POST or None, instance=account)
    if form.is_valid():
        form.save()
        messages.success(request, f"{account.username} is changed.")
        return redirect("people")
    context = {"account": account, "form": form, "room": "people"}
    status = (409 if form.conflicts else 422) if form.is_bound else 200
    return render(request, "annotation/people/person.html", context, status=status)
