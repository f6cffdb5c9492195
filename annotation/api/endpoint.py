"""The base classes of endpoints: what all of the API have in common."""

from __future__ import annotations

from typing import Any

from django_filters.rest_framework import FilterSet
from rest_framework import generics, serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.api.errors import Malformed, Problem
from annotation.api.paging import After, ByKey, Numbered, Page
from annotation.models import User


class NoQuery(serializers.Serializer):
    """An address without parameters."""


class Endpoint(APIView):
    """One address. `query` holds its parameters as `asks` has checked them; what narrows a list is a filter.

    A parameter that is not known or empty is refused: a filter with a slip of the pen would return everything.
    Where nothing is a choice of its own, the field allows it.
    """

    http_method_names = ["get", "head", "post"]
    asks: type[serializers.Serializer] = NoQuery
    filterset_class: type[FilterSet] | None = None
    query: dict[str, Any]

    @property
    def user(self) -> User:
        """Who asks. The permissions let in nobody without an account."""
        user = self.request.user
        assert isinstance(user, User)
        return user

    def asks_by(self, method: str) -> type[serializers.Serializer]:
        """The parameters of a method: only what reads has any."""
        return self.asks if method in ("GET", "HEAD") else NoQuery

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if str(request.method) not in self.allowed_methods:
            return  # the answer says so
        asks = self.asks_by(str(request.method))(data=request.query_params.dict())
        known = [*asks.fields]
        if request.method in ("GET", "HEAD") and self.filterset_class:
            known += self.filterset_class.base_filters
        if unknown := sorted(set(request.query_params) - set(known)):
            names = ", ".join(known) or "none"
            raise Malformed(
                Problem(None, name, f"is no parameter here; there are: {names}") for name in unknown
            )
        if twice := [name for name, values in request.query_params.lists() if len(values) > 1]:
            raise Malformed(Problem(None, name, "is given more than once") for name in twice)
        if blank := [
            name
            for name, value in request.query_params.dict().items()
            if not value.strip() and not getattr(asks.fields.get(name), "allow_blank", False)
        ]:
            raise Malformed(Problem(None, name, "is empty") for name in blank)
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
