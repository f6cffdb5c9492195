"""The base classes of endpoints: what all of the API have in common."""

from __future__ import annotations

from typing import Any

from rest_framework import generics, serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.api.errors import Malformed, Problem
from annotation.api.paging import After, ByKey, Numbered, Page


class NoQuery(serializers.Serializer):
    """An address without parameters."""


class Endpoint(APIView):
    """One address. `query` holds the parameters of its address, as `asks` has checked them.

    A parameter that is not known is refused: a filter with a slip of the pen would return everything.
    """

    http_method_names = ["get", "head", "post"]
    asks: type[serializers.Serializer] = NoQuery
    query: dict[str, Any]

    def asks_by(self, method: str) -> type[serializers.Serializer]:
        """The parameters of a method: only what reads has any."""
        return self.asks if method in ("GET", "HEAD") else NoQuery

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if str(request.method) not in self.allowed_methods:
            return  # the answer says so
        asks = self.asks_by(str(request.method))()
        if unknown := sorted(set(request.query_params) - set(asks.fields)):
            known = ", ".join(asks.fields) or "none"
            raise Malformed(
                Problem(None, name, f"is no parameter here; there are: {known}") for name in unknown
            )
        if twice := [name for name, given in request.query_params.lists() if len(given) > 1]:
            raise Malformed(Problem(None, name, "is given more than once") for name in twice)
        asks = self.asks_by(str(request.method))(data=request.query_params.dict())
        asks.is_valid(raise_exception=True)
        self.query = asks.validated_data

    def perform_authentication(self, request: Request) -> None:
        """Count the request first: whom nobody lets in counts too, else tokens could be tried at will."""
        try:
            super().perform_authentication(request)
        except AuthenticationFailed:
            super().check_throttles(request)
            raise
        super().check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        """It was counted when it was authenticated."""


class Listing(Endpoint, generics.ListAPIView):
    """A short list, in numbered pages."""

    asks: type[serializers.Serializer] = Page
    pagination_class = Numbered


class LongListing(Endpoint, generics.ListAPIView):
    """A long list, in pages by key."""

    asks: type[serializers.Serializer] = After
    pagination_class = ByKey
