"""Join a project by an invitation link, with an existing or a new account."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.http import PageNotFoundError
from annotation.models import Invitation, Project, User
from annotation.unique import save_unique
from crux_site.login.known_browser import remember
from crux_site.projects.forms import NewMemberForm


@sensitive_post_parameters()
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, word: str) -> HttpResponseBase:
    """GET: show the invitation, and a form for a new account if logged out. POST: join."""
    user = request.user if isinstance(request.user, User) else None
    form = None if user else NewMemberForm(request.POST or None)
    may_join = user.is_researcher if user else form is not None and form.is_valid()
    project = _accept(request, word, user, form) if request.method == "POST" and may_join else None
    if project:
        messages.success(request, f"You are now a member of {project}.")
        answer = redirect(project)
        if user is None:
            remember(request, answer)
        return answer
    invitation = Invitation.objects.of_token(word)
    if invitation is None:
        raise PageNotFoundError(
            "This invitation was used, was revoked, or has expired. If you joined with it, log in. Otherwise "
            "ask the person who sent it for a new one."
        )
    context = {"invitation": invitation, "form": form}
    status = 422 if request.method == "POST" else 200
    return render(request, "crux_site/projects/join.html", context, status=status)


@transaction.atomic
def _accept(request: HttpRequest, token: str, user: User | None, form: Any) -> Project | None:
    """Accept the invitation for an account or a new one; return the project.

    None if the link has ended, or if the name of the new account was taken meanwhile. A new account is a
    researcher's: what it sees are the projects that it is in.
    """
    invitation = Invitation.objects.lock_token(token)
    if invitation is None:
        return None
    if user is None:
        form.instance.role = User.Role.RESEARCHER
        user = save_unique(form, form.save)
        if user is None:
            return None
        login(request, user)
    invitation.accept(user)
    return invitation.project
