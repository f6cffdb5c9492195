"""Who may use the API, and how often. The roles are those of the site, asked anew with every request."""

from typing import Any

from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from annotation.models import ApiToken, User
from annotation.models.people import digest_of_token
from annotation.throttling import COUNTS


class ByToken(TokenAuthentication):
    """A token in the header Authorization, looked for by its hash."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        tokens = ApiToken.objects.select_related("user").filter(user__is_active=True)
        token = tokens.filter(digest=digest_of_token(key)).first()
        if token is None:
            raise AuthenticationFailed("Invalid token.")
        if token.is_expired:
            raise AuthenticationFailed("This token has expired.")
        return token.user, token


class Researchers(BasePermission):
    """Researchers and admins. Workers are told that it is not theirs (403), strangers to log in (401)."""

    message = "The API is for researchers and admins."

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.user, User) and request.user.is_researcher


class AdminsChange(Researchers):
    """Researchers read; admins alone change anything."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        self.message = "Only admins may do this."
        return request.method in SAFE_METHODS or (
            isinstance(request.user, User) and request.user.is_admin
        )


class OfUsers(UserRateThrottle):
    """By account."""

    cache = COUNTS

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        return super().get_cache_key(request, view) if request.user.is_authenticated else None


class OfStrangers(AnonRateThrottle):
    """By address: those who are not logged in, or come with a token that is none."""

    cache = COUNTS
