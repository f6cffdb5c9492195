"""Retries for checks of caches that live until the next database write.

On PostgreSQL, other tests write to their own databases on the same server meanwhile.
"""

from collections.abc import Callable


def succeeds_between_writes(happens: Callable[[], bool]) -> bool:
    """Return if the check succeeds in one of 500 tries, in a moment without writes.

    On PostgreSQL a write to any database of the server disturbs it.
    """
    return any(happens() for _ in range(500))
