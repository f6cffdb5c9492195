"""Work that nobody else sees or waits for: at a copy of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

# A file of SQLite's own, in SQLITE_TMPDIR or /var/tmp. Its name is taken away as soon as it is open, so it
# is gone with its connection, even where the process is killed.
_TEMPORARY = "file:"


@contextmanager
def in_a_copy() -> Iterator[None]:
    """Inside, what this thread reads and writes is a copy of the database as it was at the beginning.

    SQLite has one writer, who would keep all others waiting. Elsewhere, and within a transaction, which
    has the lock already, this is the database itself: take back what is done to it.
    """
    here: Any = connections[DEFAULT_DB_ALIAS]
    if here.vendor != "sqlite" or here.in_atomic_block:
        yield
        return
    here.ensure_connection()
    copy = here.copy()
    copy.settings_dict["NAME"] = _TEMPORARY
    try:
        copy.connect()
        with here.wrap_database_errors:
            here.connection.backup(copy.connection)
        connections[DEFAULT_DB_ALIAS] = copy
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = here
        copy.close()
