"""Middleware and error handlers: health, language, NUL, errors of people and database."""

import sys
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from csp.middleware import CSPMiddleware
from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFilesSent
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.utils import translation
from django.views import csrf, defaults
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.errors import UserError
from annotation.http import PageNotFoundError, is_by_script
from crux_site.database_errors import is_disk_full, is_transient
from crux_site.language import activate_last_language, remember_language
from crux_site.login.unsent_form import unsent_form_page
from judging.runs.page import state_of_workers

ADDRESSES = ("/healthz/", "/healthz")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


def health_check(get_response: GetResponse) -> GetResponse:
    """Middleware: answer the health check before sessions (database) and host names.

    Monitoring on the same machine requests it by IP address.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return health(request) if request.path_info in ADDRESSES else get_response(request)

    return middleware


@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Report the states of database and workers, to anybody.

    Without a worker the site still serves people: that is no failure.
    """
    try:
        workers = state_of_workers()
    except DatabaseError:  # away, or not migrated
        return JsonResponse({"database": "unavailable", "workers": "unknown"}, status=503)
    return JsonResponse({"database": "ok", "workers": workers})


def site_language(get_response: GetResponse) -> GetResponse:
    """Middleware: begin every request in the site's language.

    Threads outlive requests, and so would a language that a view activates.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with translation.override(settings.LANGUAGE_CODE):
            response = get_response(request)
            remember_language(request, response)
            return response

    return middleware


SAY_SO_THEMSELVES = ("/api/", "/search/", "/start/")


def no_nul(get_response: GetResponse) -> GetResponse:
    """Middleware: refuse a URL with a NUL, which PostgreSQL cannot store (400).

    Pages that report it in their own way are exempt.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        has_nul = "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", "")
        if has_nul and not request.path.startswith(SAY_SO_THEMSELVES):
            raise BadRequest("The address must not contain a NUL character.")
        return get_response(request)

    return middleware


class ContentSecurityPolicy(CSPMiddleware):
    """Middleware: content security policy of all responses but those without a body (204)."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if response.status_code == HTTPStatus.NO_CONTENT:
            return response
        return super().process_response(request, response)


class UserErrors:
    """Middleware: answer a UserError that no view handles with its text, and its status."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, UserError):
            return None
        activate_last_language(request)
        if is_by_script(request):
            return HttpResponse(str(error), content_type="text/plain", status=error.status)
        return render(request, "400.html", {"reason": str(error)}, status=error.status)


TOO_LARGE = "The text that you sent is larger than 2.5 MB. Send it as a file instead, or in parts."
TOO_MANY_FILES = (
    f"More than {settings.DATA_UPLOAD_MAX_NUMBER_FILES} files were sent. Pack them as one .zip."
)
RETRY_AFTER = 5  # seconds
UNAVAILABLE = "The database is busy or away. Try again in a moment."
DISK_FULL = "The disk of the server is full: nothing was stored. Free space on it, and try again."


def _in_last_language(handler: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Wrap an error handler: its page is in the language of the reader's last study."""

    @wraps(handler)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        activate_last_language(request)
        return handler(request, *args, **kwargs)

    return wrapper


permission_denied = _in_last_language(defaults.permission_denied)


@_in_last_language
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Handle a form without a valid token: one of our own pages can send it again."""
    return unsent_form_page(request) or csrf.csrf_failure(request, reason)


@_in_last_language
def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle a 404, with the reason if it is for the reader."""
    reason = str(exception) if isinstance(exception, PageNotFoundError) else ""
    return render(request, "404.html", {"reason": reason}, status=404)


@_in_last_language
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle a request that Django refuses: 413 if it is too large, else 400."""
    if isinstance(exception, RequestDataTooBig):
        return render(request, "400.html", {"reason": TOO_LARGE}, status=413)
    if isinstance(exception, TooManyFilesSent):
        return render(request, "400.html", {"reason": TOO_MANY_FILES}, status=413)
    response: HttpResponse = defaults.bad_request(request, exception)
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Handle an uncaught exception: 503 if the database is unavailable or full, else 500.

    This is an error handler and no middleware: sessions are read and written outside of the views,
    where no middleware is told of an exception.
    """
    activate_last_language(request)
    error = sys.exception()
    if not is_transient(error):
        return defaults.server_error(request)
    is_full = is_disk_full(error)
    reason = DISK_FULL if is_full else UNAVAILABLE
    response: HttpResponse
    if request.path.startswith("/api/"):
        response = JsonResponse({"detail": reason, "errors": []})
    elif is_by_script(request):
        response = HttpResponse(reason, content_type="text/plain")
    else:
        response = HttpResponse(loader.render_to_string("503.html", {"is_disk_full": is_full}))
    response.status_code = 503
    response["Retry-After"] = str(RETRY_AFTER)
    return response
