"""Authentication, permissions and rate limits of the API, with the roles of the site."""

from typing import Any

from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from annotation.models import ApiToken, User
from annotation.models.people import digest_of_token
from annotation.throttling import WindowThrottle


class HashedTokenAuthentication(TokenAuthentication):
    """Authentication by a token in the Authorization header, looked up by its hash."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        tokens = ApiToken.objects.select_related("user").filter(user__is_active=True)
        token = tokens.filter(digest=digest_of_token(key)).first()
        if token is None:
            raise AuthenticationFailed("Invalid token.")
        if token.is_expired:
            raise AuthenticationFailed("This token has expired.")
        return token.user, token


class IsResearcher(BasePermission):
    """Permission for researchers and admins: 403 for workers, 401 without an account."""

    message = "The API is for researchers and admins."

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.user, User) and request.user.is_researcher


class IsAdminOrReadOnly(IsResearcher):
    """Permission: researchers may read; only admins may change anything."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        self.message = "Only admins may do this."
        return request.method in SAFE_METHODS or (
            isinstance(request.user, User) and request.user.is_admin
        )


class AccountThrottle(WindowThrottle, UserRateThrottle):
    """Rate limit of each account."""

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        return super().get_cache_key(request, view) if request.user.is_authenticated else None


class AnonymousThrottle(WindowThrottle, AnonRateThrottle):
    """Rate limit of each IP address for requests without a valid login or token."""
