"""/healthz/: whether the site can work, for programs that watch it."""

from collections.abc import Callable

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

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
