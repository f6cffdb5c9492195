"""Account page: change the password, create and revoke API tokens."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import ApiToken, User
from crux_site.account.forms import NewTokenForm, OwnPasswordForm
from crux_site.language import activate_last_language
from crux_site.login.known_browser import remember
from crux_site.login.rate_limit import LogInError


def _page(request: AuthenticatedRequest, status: int = 200, **overrides: Any) -> HttpResponse:
    """The page with both forms; `told` has the one that was sent, or what came of it."""
    if request.user.is_guest:
        raise Http404("Accounts created by a link have no password.")
    context: dict[str, Any] = {
        "form": OwnPasswordForm(request),
        "token_form": NewTokenForm(),
        "tokens": request.user.api_tokens.all(),
        "room": "account",
    }
    return render(request, "crux_site/account/account.html", context | overrides, status=status)


@never_cache
@require_safe
def account(request: AuthenticatedRequest) -> HttpResponseBase:
    """The own account, of everybody who logs in with a password."""
    activate_last_language(request)
    return _page(request)


@sensitive_post_parameters()
@never_cache
@require_POST
def password(request: AuthenticatedRequest) -> HttpResponseBase:
    """A new password for whoever knows the old one. All other sessions of the account end."""
    activate_last_language(request)
    form = OwnPasswordForm(request, request.POST)
    try:
        if request.user.is_guest or not form.is_valid():
            return _page(request, 422, form=form)
    except LogInError as refused:
        answer = _page(request, refused.status, refused=str(refused))
        answer.headers["Retry-After"] = str(refused.wait)
        return answer
    update_session_auth_hash(request, form.save())
    messages.success(request, _("Your password was changed."))
    answer = redirect("account")
    remember(request, answer)
    return answer


@never_cache
@require_POST
@researchers_only
def token_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """A new token, which is shown this once."""
    with transaction.atomic():
        # Two at once wait for each other here, so that the second meets the first one's name.
        user = User.objects.select_for_update().get(pk=request.user.pk)
        form = NewTokenForm(request.POST, instance=ApiToken(user=user))
        key = form.make() if form.is_valid() else None
    if key is None:
        return _page(request, 422, token_form=form)
    return _page(request, made=key)


@require_POST
@researchers_only
def token_revoke(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """End a token: no request that carries it is answered any more."""
    token = get_object_or_404(request.user.api_tokens, pk=pk)
    token.delete()
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("account")
