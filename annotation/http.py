"""Guards of views: who may call one. The type of its request says so."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django_htmx.middleware import HtmxDetails

from annotation.models import User


class AuthenticatedRequest(HttpRequest):
    """A request of somebody who is logged in, which the middleware sees to for every view."""

    user: User
    htmx: HtmxDetails


View = Callable[..., HttpResponseBase]


def researchers_only(view: View) -> View:
    """Researchers and admins; everybody else is told that the page is not theirs (403)."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_researcher:
            raise PermissionDenied(_("This page is for researchers."))
        return view(request, *args, **kwargs)

    return guarded


def admins_only(view: View) -> View:
    """Admins; everybody else is told that the page is not theirs (403)."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_admin:
            raise PermissionDenied(_("This page is for admins."))
        return view(request, *args, **kwargs)

    return guarded


def coordinators_only(view: View) -> View:
    """Who runs campaigns of the project that the address is about; others are told so (403)."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.runs_campaigns:
            raise PermissionDenied("This page is for admins and coordinators of the project.")
        return view(request, *args, **kwargs)

    return guarded


def owners_only(view: View) -> View:
    """Owners of the project that the address is about; others are told so (403)."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.owns:
            raise PermissionDenied("This page is for admins and owners of the project.")
        return view(request, *args, **kwargs)

    return guarded


def is_by_script(request: HttpRequest) -> bool:
    """Whether a page's script asks (and wants a bare answer), not a person who submits a form."""
    return request.headers.get("X-Requested-With") == "fetch"


def is_key(words: str) -> bool:
    """Whether a word of an address can be the key of a row."""
    return words.isascii() and words.isdecimal() and len(words) <= 18
