"""Policy for outgoing requests: which hosts the servers of projects may be at.

Three sources: public hosts by https at port 443, unless an admin closes that; hosts that JUDGE_ENDPOINTS names,
with scheme and port; and the rows of AllowedHost. The address that a host resolves to is checked when the
socket is made (judging.llm.route).
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from judging.execution.models import ENDPOINT_SEPARATOR
from judging.llm.errors import BackendError, BackendUnavailableError
from judging.llm.route import Reach
from judging.llm.server import check_address
from judging.models.endpoint import AllowedHost, OutboundPolicy

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORTS = {"https": 443, "http": 80}
_ASK = "Ask an admin of the site to allow it, under Allowed hosts."


class ForbiddenHostError(BackendUnavailableError):
    """The policy does not allow this URL; the message can be shown to a person."""


def reach_of(url: str) -> Reach:
    """Network addresses that a project's server at this URL may resolve to.

    Raises ForbiddenHostError for a URL that the policy does not allow, BackendUnavailableError for one
    that cannot be used.
    """
    parts = check_url(url)
    host, port = host_of(parts), port_of(parts)
    if (parts.scheme, host, port) in _of_environment():
        return Reach.PRIVATE
    rows = [row for row in AllowedHost.objects.filter(host=host) if row.matches(host, port)]
    if rows:
        if parts.scheme == "http" and not any(row.allows_http for row in rows):
            raise ForbiddenHostError(f"{host} may be called by https only. {_ASK}")
        return Reach.PRIVATE if any(row.allows_private for row in rows) else Reach.PUBLIC
    if not OutboundPolicy.current().allows_public_hosts:
        raise ForbiddenHostError(f"{host} is not among the allowed hosts. {_ASK}")
    if parts.scheme != "https":
        raise ForbiddenHostError(
            f"The URL must begin with https://. Unencrypted http needs permission for {host}. {_ASK}"
        )
    if port != 443:
        raise ForbiddenHostError(f"Port {port} of {host} is not allowed; only 443 is. {_ASK}")
    if _is_private_literal(host):
        raise ForbiddenHostError(f"{host} is a private or loopback address. {_ASK}")
    return Reach.PUBLIC


def check_url(url: str) -> SplitResult:
    """Return the parts of a URL that is written plainly.

    Raises BackendUnavailableError for any other.
    """
    check_address(url)
    # Parsers differ on what these mean in a URL, so what is checked might not be what is called.
    if not url.isascii() or re.search(r"[\s\\%@]|[\x00-\x20\x7f]", url):
        raise BackendUnavailableError(
            "The URL must not contain white space, \\, %, @ or letters beyond ASCII."
        )
    parts = urlsplit(url)
    host = host_of(parts)
    # 2130706433, 0x7f000001, 0177.0.0.1 and 127.1 are numbers to some parsers, and 127.0.0.1 to others.
    is_number = _NUMBER.fullmatch(host.rpartition(".")[2])
    if not _is_ip(host) and (is_number or not _HOST.fullmatch(host)):
        raise BackendUnavailableError(
            "The host of the URL is not a host name or a plain IP address."
        )
    return parts


def host_of(parts: SplitResult) -> str:
    """Return the host in lower case, without the dot that ends a full name."""
    return (parts.hostname or "").rstrip(".")


def port_of(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


def environment_hosts() -> list[str]:
    """The servers of JUDGE_ENDPOINTS as scheme://host:port, for admins."""
    return sorted(f"{scheme}://{host}:{port}" for scheme, host, port in _of_environment())


def _of_environment() -> set[tuple[str, str, int]]:
    origins = set()
    for urls in settings.JUDGE_ENDPOINTS.values():
        for url in urls.split(ENDPOINT_SEPARATOR):
            try:
                check_address(url)
            except BackendError:
                continue
            parts = urlsplit(url)
            origins.add((parts.scheme, host_of(parts), port_of(parts)))
    return origins


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_private_literal(host: str) -> bool:
    return host == "localhost" or (_is_ip(host) and not ipaddress.ip_address(host).is_global)
