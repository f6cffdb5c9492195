"""What every request passes: /healthz/, the language of a page, no NUL; and what a database away is told as."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template import loader
from django.utils import translation
from django.views import csrf, defaults
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.http import is_by_script
from crux_site.language import activate_last_language, remember_language
from judging.runs.page import state_of_workers

ADDRESSES = ("/healthz/", "/healthz")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


def answered_first(get_response: GetResponse) -> GetResponse:
    """Answer before anything looks for a session, which is in the database, or at the host's name.

    Who watches from the same machine asks by its number.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return health(request) if request.path_info in ADDRESSES else get_response(request)

    return middleware


@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """States and nothing else, to anybody. Without a worker the site serves people, so that is no failure."""
    try:
        workers = state_of_workers()
    except DatabaseError:  # away, or not migrated
        return JsonResponse({"database": "unavailable", "workers": "unknown"}, status=503)
    return JsonResponse({"database": "ok", "workers": workers})


def site_language(get_response: GetResponse) -> GetResponse:
    """Begin every request in the site's language: threads outlive requests, and so would a view's choice."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with translation.override(settings.LANGUAGE_CODE):
            response = get_response(request)
            remember_language(request, response)
            return response

    return middleware


SAY_SO_THEMSELVES = ("/api/", "/search/", "/start/")


def no_nul(get_response: GetResponse) -> GetResponse:
    """Refuse an address with a NUL: PostgreSQL can neither keep nor look for one, and nothing has one.

    But for those of pages that say what is wrong in their own way.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        has_nul = "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", "")
        if has_nul and not request.path.startswith(SAY_SO_THEMSELVES):
            raise BadRequest("This address has a NUL in it, which no name here has.")
        return get_response(request)

    return middleware


RETRY_AFTER = 5  # seconds
SAYS = "The database is busy or away. Try again in a moment."


def _in_last_language(handler: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A handler of errors whose page belongs to no study, in the language of the reader's last one."""

    @wraps(handler)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        activate_last_language(request)
        return handler(request, *args, **kwargs)

    return answered


bad_request = _in_last_language(defaults.bad_request)
permission_denied = _in_last_language(defaults.permission_denied)
page_not_found = _in_last_language(defaults.page_not_found)
csrf_failure = _in_last_language(csrf.csrf_failure)


def server_error(request: HttpRequest) -> HttpResponse:
    """The answer to an exception that nobody caught: an error of ours (500), or of the moment (503).

    This is the handler of errors, and no middleware: sessions are read and written outside of the views,
    in places where no middleware is told of an exception.
    """
    activate_last_language(request)
    if not will_pass(sys.exception()):
        return defaults.server_error(request)
    response: HttpResponse
    if request.path.startswith("/api/"):
        response = JsonResponse({"detail": SAYS, "errors": []})
    elif is_by_script(request):
        response = HttpResponse(SAYS, content_type="text/plain")
    else:
        response = HttpResponse(loader.render_to_string("503.html"))
    response.status_code = 503
    response["Retry-After"] = str(RETRY_AFTER)
    return response


def will_pass(error: BaseException | None) -> bool:
    """Whether the database could not be reached, or not written to in time.

    SQLite says of a table or a column that is not there that this is operational, too: that is our fault.
    """
    code = getattr(error.__cause__, "sqlite_errorname", "") if error else ""
    return isinstance(error, OperationalError | InterfaceError) and code != "SQLITE_ERROR"
