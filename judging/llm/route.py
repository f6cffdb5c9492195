"""Route to a model server: headers, query, proxy, CA bundle, allowed addresses.

Addresses are checked where the socket is made, so the address that was checked is the one that is connected to:
a name that resolves to something else a moment later (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Metadata and host services of clouds at addresses that count as public or private: never of a model.
_METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in ("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254")
)


class Reach(Enum):
    """Network addresses that a route may connect to."""

    ANY = "any"  # servers of the environment, which the site's operator has named
    PUBLIC = "public"
    PRIVATE = "private"  # public, private and loopback; never link-local or metadata


REFUSED = "address refused"


class ForbiddenAddressError(OSError):
    """The host of a server resolves to an address that may not be reached."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EACCES, f"{REFUSED}: {reason}")


@dataclass(frozen=True, slots=True)
class KeyHeader:
    """Request header that carries the key: its name, and the prefix of the key."""

    name: str = "Authorization"
    prefix: str = "Bearer "


BEARER = KeyHeader()
KEY_HEADERS: Mapping[str, KeyHeader] = {
    "bearer": BEARER,
    "api-key": KeyHeader("api-key", ""),
    "x-api-key": KeyHeader("x-api-key", ""),
}


@dataclass(frozen=True)
class Route:
    """Settings of the connection to a server, beside its URL and key.

    `list_key_header` carries the key in GET requests, such as of the model list. `params` are added to the
    query of every request. `ca_file` is a PEM file of certificate authorities, empty for the system's.
    """

    key_header: KeyHeader = BEARER
    list_key_header: KeyHeader = BEARER
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    reach: Reach = Reach.ANY
    ca_file: str = ""

    def auth(self, method: str, key: str) -> dict[str, str]:
        """Return the header with the key, for a request of this method; {} without a key."""
        header = self.list_key_header if method == "GET" else self.key_header
        return {header.name: header.prefix + key} if key else {}

    def connector_options(self) -> dict[str, Any]:
        """Return arguments of aiohttp's TCPConnector.

        Raises OSError for a CA file that cannot be read.
        """
        options: dict[str, Any] = {}
        if self.ca_file:
            options["ssl"] = _context(self.ca_file)
        if self.reach is not Reach.ANY:
            options["socket_factory"] = self._socket
        return options

    def _socket(self, address_info: Any) -> socket.socket:
        family, kind, protocol, _, address = address_info
        check_ip(str(address[0]), self.reach)
        return socket.socket(family=family, type=kind, proto=protocol)


PLAIN = Route()


@lru_cache(maxsize=4)
def _context(ca_file: str) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca_file)


def proxy_of(url: str) -> str | None:
    """Return the proxy of HTTP_PROXY or HTTPS_PROXY for a URL.

    None where NO_PROXY or loopback excludes it. Not aiohttp's trust_env, which would also send
    passwords of ~/.netrc.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or _is_loopback(host):
        return None
    proxy = urllib.request.getproxies_environment().get(parts.scheme)
    if not proxy or urllib.request.proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def check_resolved(host: str, port: int, reach: Reach) -> None:
    """Check every address of a host, for requests through a proxy.

    The sockets of a proxy are not ours. A host that only the proxy can resolve is left to the proxy.
    Raises ForbiddenAddressError.
    """
    if reach is Reach.ANY:
        return
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return
    for *_, address in addresses:
        check_ip(str(address[0]), reach)


def check_ip(address: str, reach: Reach) -> None:
    """Raises ForbiddenAddressError for an address that may not be reached."""
    if reach is Reach.ANY:
        return
    try:
        ip = _unwrapped(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        raise ForbiddenAddressError("the host has no IP address") from None
    if ip in _METADATA or ip.is_link_local or ip.is_multicast or ip.is_unspecified:
        raise ForbiddenAddressError("the host resolves to a link-local or metadata address")
    if ip.is_global:
        return
    if reach is Reach.PRIVATE and (ip.is_private or ip.is_loopback):
        return
    raise ForbiddenAddressError(
        "the host resolves to a private or loopback address, which an admin has not allowed"
    )


def _unwrapped(ip: IPAddress) -> IPAddress:
    """Return the IPv4 address within an IPv6 one that leads to it: mapped, 6to4 or NAT64."""
    if isinstance(ip, ipaddress.IPv6Address):
        if inner := ip.ipv4_mapped or ip.sixtofour:
            return inner
        if ip in _NAT64 or (int(ip) >> 32 == 0 and int(ip) > 1):  # NAT64, IPv4-compatible
            return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
