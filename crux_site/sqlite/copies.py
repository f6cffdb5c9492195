"""Dry runs on a copy of the database, which nobody sees or waits for."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

# A file of SQLite's own, in SQLITE_TMPDIR or /var/tmp. Its name is taken away as soon as it is open, so it
# is gone with its connection, even where the process is killed.
_TEMPORARY = "file:"


@contextmanager
def on_database_copy() -> Iterator[None]:
    """Use a copy of the SQLite database for this thread, as it was at the beginning.

    SQLite has one writer, who would keep all others waiting. On PostgreSQL, and within a transaction, which
    has the lock already, this is the database itself: the caller rolls back its changes.
    """
    original: Any = connections[DEFAULT_DB_ALIAS]
    if original.vendor != "sqlite" or original.in_atomic_block:
        yield
        return
    original.ensure_connection()
    copy = original.copy()
    copy.settings_dict["NAME"] = _TEMPORARY
    try:
        copy.connect()
        with original.wrap_database_errors:
            original.connection.backup(copy.connection)
        connections[DEFAULT_DB_ALIAS] = copy
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = original
        copy.close()
