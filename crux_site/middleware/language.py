"""The language of a page: the site's own, until a view says that its campaign has another."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def site_language(get_response: GetResponse) -> GetResponse:
    """Begin every request in the site's language: threads outlive requests, and so would a view's choice."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with translation.override(settings.LANGUAGE_CODE):
            return get_response(request)

    return middleware
