"""What is held while nothing is written, on a server on which other tests write to databases of their own."""

from collections.abc import Callable


def in_a_quiet_moment(happens: Callable[[], bool]) -> bool:
    """Whether it happens when nobody writes meanwhile: on PostgreSQL to any database of the server."""
    return any(happens() for _ in range(500))
