"""What no address may ask for, whatever page it leads to."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase

SAY_SO_THEMSELVES = ("/api/", "/start/")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


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
