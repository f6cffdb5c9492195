"""Throttling of views: by network address where they are public, else by user."""

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.core.cache import BaseCache, caches
from django.utils.connection import ConnectionProxy
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle

COUNTS: Any = ConnectionProxy(caches, "api")


def address_of(request: Any) -> str:
    """Return the client's address, from the nearest proxy if there is one (NUM_PROXIES).

    Of an IPv6 address the network, which one line has as a whole.
    """
    ident: str = BaseThrottle().get_ident(request)
    try:
        address = ip_address(ident)
    except ValueError:
        return ident
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
    return ident


class ViewThrottle(SimpleRateThrottle):
    """Throttle for Django's own views."""

    cache: BaseCache = COUNTS

    def allows(self, request: Any, view: Any = None) -> bool:
        """Return whether the request is within the rate; count it if it is.

        DRF's throttles know of views of its own.
        """
        return bool(self.allow_request(request, view))


class Arrivals(ViewThrottle):
    """Throttle for openings of a study's URL, by network address."""

    scope = "arrivals"

    def get_cache_key(self, request: Any, view: Any) -> str:
        return self.cache_format % {"scope": self.scope, "ident": address_of(request)}


class WorkerMessages(ViewThrottle):
    """Throttle for messages to the researchers, by account or guest."""

    scope = "messages"

    def get_cache_key(self, request: Any, view: Any) -> str:
        return self.cache_format % {"scope": self.scope, "ident": request.user.pk}
