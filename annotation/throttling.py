"""Rate limits of views: by network address where they are public, else by user.

On PostgreSQL all processes of a site count together, in a table. On SQLite each process counts in memory,
because a request that only reads would otherwise wait for the one writer, such as an import.
"""

import threading
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.core.cache import caches
from django.db import connection
from django.utils.crypto import salted_hmac
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle

DAY = 24 * 60 * 60
_COUNT = """
INSERT INTO annotation_requestcount AS stored (key, window_end, number) VALUES (%(key)s, %(end)s, 1)
ON CONFLICT (key) DO UPDATE SET
    number = CASE WHEN stored.window_end <= %(requested_at)s THEN 1 ELSE stored.number + 1 END,
    window_end = CASE WHEN stored.window_end <= %(requested_at)s THEN %(end)s ELSE stored.window_end END
RETURNING number, window_end
"""
# Rows that another request is counting in stay until a later request deletes them.
_DELETE_ENDED = """
DELETE FROM annotation_requestcount WHERE key IN (
    SELECT key FROM annotation_requestcount WHERE window_end < %s FOR UPDATE SKIP LOCKED
)
"""
_memory_lock = threading.Lock()


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


class WindowThrottle(SimpleRateThrottle):
    """Rate limit in windows of time, which begin with a request."""

    duration: int
    num_requests: int

    def allow_request(self, request: Any, view: Any = None) -> bool:
        """Count the request; return whether it is within the limit."""
        key = self.get_cache_key(request, view)
        if key is None:
            return True
        requested_at = self.timer()
        # Addresses of people are stored as hashes alone.
        hashed = salted_hmac("annotation.throttling", key).hexdigest()
        count = _count_in_table if connection.vendor == "postgresql" else _count_in_memory
        number, window_end = count(hashed, requested_at, self.duration)
        self._seconds_left = window_end - requested_at
        return number <= self.num_requests

    def wait(self) -> float:
        """Return the seconds to the end of the window."""
        return self._seconds_left


def _count_in_memory(key: str, requested_at: float, duration: int) -> tuple[int, float]:
    """Count a request; return the number of those in its window, and when that ends."""
    counts = caches["api"]
    with _memory_lock:
        number, window_end = counts.get(key, (0, 0.0))
        if window_end <= requested_at:
            number, window_end = 0, requested_at + duration
        counts.set(key, (number + 1, window_end), duration)
    return number + 1, window_end


def _count_in_table(key: str, requested_at: float, duration: int) -> tuple[int, float]:
    """Count as in memory, in one statement, so that no process loses the count of another."""
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNT, {"key": key, "requested_at": requested_at, "end": requested_at + duration}
        )
        number, window_end = cursor.fetchone()
        if number == 1:
            cursor.execute(_DELETE_ENDED, [requested_at - DAY])
    return number, window_end


class Arrivals(WindowThrottle):
    """Throttle for openings of a study's URL, by network address."""

    scope = "arrivals"

    def get_cache_key(self, request: Any, view: Any) -> str:
        return self.cache_format % {"scope": self.scope, "ident": address_of(request)}


class WorkerMessages(WindowThrottle):
    """Throttle for messages to the researchers, by account or guest."""

    scope = "messages"

    def get_cache_key(self, request: Any, view: Any) -> str:
        return self.cache_format % {"scope": self.scope, "ident": request.user.pk}
