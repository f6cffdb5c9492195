"""The description of the API, and the page that shows it and tries it."""

from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.endpoint import Endpoint
from annotation.http import AuthenticatedRequest, researchers_only


class Schema(Endpoint, SpectacularJSONAPIView):
    """The description of the API, as OpenAPI."""

    schema = None

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self._get_schema_response(request)


class UnknownEndpoint(Endpoint):
    """Fallback endpoint: 404 as JSON at any other address, without authentication."""

    schema = None
    authentication_classes = []
    permission_classes = []

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is no endpoint at this URL. All URLs end with a slash.")


@require_safe
@researchers_only
def try_api(request: AuthenticatedRequest) -> HttpResponseBase:
    """The endpoints, to read, and to try as the account that is logged in."""
    return render(request, "crux_site/api/try.html", {"room": "api"})
