"""Joining a project by the link of an invitation, with an account that is there or a new one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.models import Invitation, User
from crux_site.projects.forms import NewMemberForm


@sensitive_post_parameters()
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, word: str) -> HttpResponseBase:
    """What the link lets into, and a button; a form for an account where nobody is logged in."""
    user = request.user if isinstance(request.user, User) else None
    form = None if user else NewMemberForm(request.POST or None)
    with transaction.atomic():  # of two who come by one link at once, the second finds it taken
        invitation = Invitation.objects.select_for_update(of=("self",)).of_word(word)
        if invitation is None:
            raise Http404("This invitation was taken, was revoked, or has ended.")
        may_join = user.is_researcher if user else form is not None and form.is_valid()
        if request.method == "POST" and may_join:
            newcomer = user or _account(request, form)
            invitation.take(newcomer)
            messages.success(request, f"You are in {invitation.project}.")
            return redirect(invitation.project)
    context = {"invitation": invitation, "form": form}
    status = 422 if request.method == "POST" else 200
    return render(request, "crux_site/projects/join.html", context, status=status)


def _account(request: HttpRequest, form: Any) -> User:
    """A researcher's account: what it sees are the projects that it is in."""
    form.instance.role = User.Role.RESEARCHER
    made: User = form.save()
    login(request, made)
    return made
