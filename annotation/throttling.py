"""Throttling by network address, of what is open to strangers."""

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.core.cache import BaseCache, caches
from django.utils.connection import ConnectionProxy
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle

COUNTS: Any = ConnectionProxy(caches, "api")


def address_of(request: Any) -> str:
    """Where a request comes from: what the nearest proxy says where there is one (NUM_PROXIES).

    Of an IPv6 address the network, which one line has as a whole.
    """
    told: str = BaseThrottle().get_ident(request)
    try:
        address = ip_address(told)
    except ValueError:
        return told
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
    return told


class Arrivals(SimpleRateThrottle):
    """Openings of a study's address, by where they come from."""

    cache: BaseCache = COUNTS
    scope = "arrivals"

    def allows(self, request: Any, view: Any = None) -> bool:
        """Whether one more may come now; counted where it may. DRF's throttles know of views of its own."""
        return bool(self.allow_request(request, view))

    def get_cache_key(self, request: Any, view: Any) -> str:
        return self.cache_format % {"scope": self.scope, "ident": address_of(request)}
