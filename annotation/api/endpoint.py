"""Base classes of all API endpoints."""

from __future__ import annotations

from typing import Any

from django_filters.rest_framework import FilterSet
from rest_framework import generics, serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.views import APIView

from annotation.api.errors import MalformedRequestError, Problem
from annotation.api.paging import KeyPage, KeysetPagination, NumberedPagination, Page
from annotation.models import User


class NoQuery(serializers.Serializer):
    """An address without parameters."""


class Endpoint(APIView):
    """Base view. `query` holds the parameters validated by `asks`; lists have filters, too.

    An unknown or empty parameter is refused: a filter with a typo would return everything. A field
    that may be empty allows that itself.
    """

    http_method_names = ["get", "head", "post"]
    asks: type[serializers.Serializer] = NoQuery
    filterset_class: type[FilterSet] | None = None
    query: dict[str, Any]

    @property
    def user(self) -> User:
        """Return the authenticated account; the permissions require one."""
        user = self.request.user
        assert isinstance(user, User)
        return user

    def asks_by(self, method: str) -> type[serializers.Serializer]:
        """Return the parameters of a method: only GET and HEAD have any."""
        return self.asks if method in ("GET", "HEAD") else NoQuery

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if str(request.method) not in self.allowed_methods:
            return  # the answer says so
        asks = self.asks_by(str(request.method))(data=request.query_params.dict())
        parameter_names = [*asks.fields]
        if request.method in ("GET", "HEAD") and self.filterset_class:
            parameter_names += self.filterset_class.base_filters
        if unknown := sorted(set(request.query_params) - set(parameter_names)):
            names = ", ".join(parameter_names) or "none"
            raise MalformedRequestError(
                Problem(None, name, f"is no parameter here; there are: {names}") for name in unknown
            )
        if twice := [name for name, values in request.query_params.lists() if len(values) > 1]:
            raise MalformedRequestError(
                Problem(None, name, "is given more than once") for name in twice
            )
        if blank := [
            name
            for name, value in request.query_params.dict().items()
            if not value.strip() and not getattr(asks.fields.get(name), "allow_blank", False)
        ]:
            raise MalformedRequestError(Problem(None, name, "is empty") for name in blank)
        asks.is_valid(raise_exception=True)
        self.query = asks.validated_data

    def perform_authentication(self, request: Request) -> None:
        """Authenticate, and count the request against the rate limit, also if that fails.

        Otherwise tokens could be guessed without limit.
        """
        try:
            super().perform_authentication(request)
        except AuthenticationFailed:
            super().check_throttles(request)
            raise
        super().check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        """Do nothing: `perform_authentication` has counted the request."""


class Listing(Endpoint, generics.ListAPIView):
    """A short list, in numbered pages."""

    asks: type[serializers.Serializer] = Page
    pagination_class = NumberedPagination


class LongListing(Endpoint, generics.ListAPIView):
    """A long list, in pages by key."""

    asks: type[serializers.Serializer] = KeyPage
    pagination_class = KeysetPagination
