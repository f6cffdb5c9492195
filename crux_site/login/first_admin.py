"""Page that creates the first admin. It exists while the site has no account."""

from typing import Any

from django import forms
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import BaseUserCreationForm
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.http import PageNotFoundError
from annotation.models import Project, User
from annotation.models.projects import main_project
from annotation.unique import save_unique
from crux_site.login import first_admin_token
from crux_site.login.known_browser import remember
from crux_site.login.rate_limit import LogInError, count_attempt

EXISTS = "There is an account already: log in."
COUNTED_AS = "/first-admin/"  # no user name has a slash: attempts do not count for an account


class FirstAdminForm(BaseUserCreationForm):
    """Account of an admin, for the person who has the token.

    `is_valid` raises LogInError after too many wrong tokens.
    """

    token = forms.CharField(
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="from the server's terminal",
    )

    class Meta:
        model = User
        fields = ("username",)

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.instance.role = User.Role.ADMIN
        self.order_fields(["token"])

    def clean_token(self) -> str:
        """Check the token, as rate-limited as a password."""
        token: str = self.cleaned_data["token"]
        with count_attempt(COUNTED_AS, self.request):
            if not first_admin_token.is_valid(token):
                raise ValidationError("This is not the token of this site.")
        return token


@sensitive_post_parameters()
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def first_admin(request: HttpRequest) -> HttpResponseBase:
    """GET: show the form. POST: create the account with the token, and log in."""
    if not first_admin_token.is_site_empty():
        raise PageNotFoundError(EXISTS)
    if request.method != "POST":
        form = FirstAdminForm(request, initial={"token": request.GET.get("token", "")})
        return _page(request, form)
    form = FirstAdminForm(request, request.POST)
    try:
        admin = _create(form) if form.is_valid() else None
    except LogInError as refused:
        unbound = FirstAdminForm(request, initial=request.POST.dict())
        page = _page(request, unbound, refused.status, refused=str(refused))
        page.headers["Retry-After"] = str(refused.wait)
        return page
    if admin is None:
        return _page(request, form, 422)
    login(request, admin)
    response = redirect("home")
    remember(request, response)
    return response


def _page(
    request: HttpRequest, form: FirstAdminForm, status: int = 200, refused: str = ""
) -> HttpResponseBase:
    context = {"form": form, "refused": refused}
    return render(request, "crux_site/login/first_admin.html", context, status=status)


@transaction.atomic
def _create(form: FirstAdminForm) -> User | None:
    """Store the account; None if its name was taken meanwhile. Raises Http404.

    The main project is locked first: of two browsers, the second finds the account of the first.
    """
    Project.objects.lock(main_project())
    if not first_admin_token.is_site_empty():
        raise PageNotFoundError(EXISTS)
    return save_unique(form, form.save)
