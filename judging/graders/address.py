"""What the address of a server may hold."""

from urllib.parse import urlsplit

from judging.graders.base import Unavailable


def check_address(url: str) -> None:
    """Raises Unavailable for what is no address, or holds what should not be stored or shown."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Unavailable(
            "The server's address cannot be read: is its host or port wrong?"
        ) from None
    if parts.scheme not in ("http", "https") or not host:
        raise Unavailable("The server's address must begin with http:// or https:// and a host.")
    if parts.username or parts.password:
        raise Unavailable("The server's address must not hold a name or a password.")
    if parts.query or parts.fragment:
        raise Unavailable(
            "The server's address must end with its path: a key belongs in the environment."
        )
