"""A database that is locked or away: 503, and when to come back.

This is the handler of errors, and no middleware: sessions are read and written outside of the views, in
places where no middleware is told of an exception.
"""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.views import defaults

from annotation.http import is_by_script

RETRY_AFTER = 5  # seconds
SAYS = "The database is busy or away. Try again in a moment."


def server_error(request: HttpRequest) -> HttpResponse:
    """The answer to an exception that nobody caught: an error of ours (500), or of the moment (503)."""
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
