"""View decorators for access control, their request type, and a 404 with a reason."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django_htmx.middleware import HtmxDetails

from annotation.models import User


class AuthenticatedRequest(HttpRequest):
    """A request of a user who is logged in, as the middleware ensures for all views."""

    user: User
    htmx: HtmxDetails
    newest_rating: int
    """Key of the newest rating before the page was computed; only pages of results have it."""
    replica: object
    """State of the read replica that a page of results read; None where it read the primary."""
    certificates: str
    """Judges of a page of results, each with the state of its certificate."""


class PageNotFoundError(Http404):
    """404 for a page that no longer exists, with the reason as its text.

    Raise it only where the reader may learn the reason: Http404 has a general text.
    """


View = Callable[..., HttpResponseBase]


def never_redisplayed(view: View) -> View:
    """Mark a view whose forms hold secrets or have nothing to save.

    A form that is refused because its session has ended is not displayed again.
    """
    # An attribute of the function, as Django's login_required is.
    view.is_never_redisplayed = True  # type: ignore[attr-defined]
    return view


def researchers_only(view: View) -> View:
    """Restrict a view to researchers and admins; 403 for others."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_researcher:
            raise PermissionDenied(_("This page is for researchers."))
        return view(request, *args, **kwargs)

    return guarded


def admins_only(view: View) -> View:
    """Restrict a view to admins; 403 for others."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_admin:
            raise PermissionDenied(_("This page is for admins."))
        return view(request, *args, **kwargs)

    return guarded


def coordinators_only(view: View) -> View:
    """Restrict a view to coordinators of the project in the URL, and admins; 403 for others."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.runs_campaigns:
            raise PermissionDenied("This page is for admins and coordinators of the project.")
        return view(request, *args, **kwargs)

    return guarded


def owners_only(view: View) -> View:
    """Restrict a view to owners of the project in the URL; 403 for others."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.owns:
            raise PermissionDenied("This page is for admins and owners of the project.")
        return view(request, *args, **kwargs)

    return guarded


def is_by_script(request: HttpRequest) -> bool:
    """Return whether a page's script sent the request and expects a bare answer, no page."""
    return request.headers.get("X-Requested-With") == "fetch"


def is_key(segment: str) -> bool:
    """Return whether a part of a URL can be the primary key of a row."""
    return segment.isascii() and segment.isdecimal() and len(segment) <= 18
