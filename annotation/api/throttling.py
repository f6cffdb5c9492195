"""How often one may ask. What is counted lies in a cache of its own, so that it pushes out no results."""

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from annotation.throttling import COUNTS


class OfUsers(UserRateThrottle):
    """By account."""

    cache = COUNTS

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        return super().get_cache_key(request, view) if request.user.is_authenticated else None


class OfStrangers(AnonRateThrottle):
    """By address: those who are not logged in, or come with a token that is none."""

    cache = COUNTS
