"""Version of the database contents, to tell without reading a row if anything was written.

SQLite counts for each of its connections the commits of others, so a connection that never writes
sees all of them. PostgreSQL names the transactions that a snapshot sees: two of the same name see
the same rows.
"""

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from django.db import connections, router
from django.db.backends.base.base import BaseDatabaseWrapper

from annotation.models import Rating


class Version(NamedTuple):
    """Version of the contents of a database."""

    database: Hashable
    state: Hashable


_connections: dict[tuple[str, int, int], sqlite3.Connection] = {}
_connections_lock = threading.Lock()
_version_of_snapshot: ContextVar[Version | None] = ContextVar("of the snapshot", default=None)
_snapshots: Counter[Version] = Counter()
_snapshots_lock = threading.Lock()
_ATTEMPTS = 5


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one state of the database within this context, in which nothing can be written.

    What others write meanwhile is not seen, and `current` stays the same: what a page has computed
    remains valid until its end. Within a transaction this context changes nothing.
    """
    connection: Any = connections[router.db_for_read(Rating)]
    if connection.in_atomic_block:
        yield
        return
    with ExitStack() as stack:
        version = _begin(connection, stack)
        token = _version_of_snapshot.set(version)
        stack.callback(_version_of_snapshot.reset, token)
        if version:
            _count(version, 1)
            stack.callback(_count, version, -1)
        yield


def _begin(connection: Any, stack: ExitStack) -> Version | None:
    """Enter a read-only transaction; return the version of exactly the state that it reads.

    None where that is unknown. A version of another state would be stored with results of this one.
    """
    if connection.vendor != "sqlite":
        stack.enter_context(connection.read_only_transaction())
        return _postgresql_version(connection)
    for _ in range(_ATTEMPTS):
        before = _sqlite_version(connection)
        stack.enter_context(connection.read_only_transaction())
        if before and _sqlite_version(connection) == before:
            return before
        stack.close()  # something was written between the two
    stack.enter_context(connection.read_only_transaction())
    return None


def _count(version: Version, n: int) -> None:
    with _snapshots_lock:
        _snapshots[version] += n
        if not _snapshots[version]:
            del _snapshots[version]


def is_in_use(version: Version) -> bool:
    """Return whether a snapshot of this process reads this version."""
    return version in _snapshots


def current() -> Version | None:
    """Return the version, equal as long as nothing is written; None where unknown.

    It is unknown within a transaction, which may have written something itself, and of a database
    in memory. Within `snapshot` it is that of the snapshot.
    """
    if version := _version_of_snapshot.get():
        return version
    connection = connections[router.db_for_read(Rating)]  # a replica has other versions
    if connection.in_atomic_block:
        return None
    is_sqlite = connection.vendor == "sqlite"
    return _sqlite_version(connection) if is_sqlite else _postgresql_version(connection)


def _postgresql_version(connection: BaseDatabaseWrapper) -> Version:
    with connection.cursor() as cursor:
        cursor.execute("select current_database(), pg_current_snapshot()::text")
        name, state = cursor.fetchone()
    return Version((connection.alias, name), state)


def _sqlite_version(connection: BaseDatabaseWrapper) -> Version | None:
    path = Path(connection.settings_dict["NAME"])
    try:
        file_stat = path.stat()
    except OSError:
        return None
    # A replaced file is another database, and a connection belongs to one process.
    file = (str(path), file_stat.st_ino, os.getpid())
    with _connections_lock:
        try:
            if file not in _connections:
                _connections[file] = sqlite3.connect(
                    f"file:{quote(str(path))}?mode=ro", uri=True, check_same_thread=False
                )
            return Version(file, _connections[file].execute("pragma data_version").fetchone())
        except sqlite3.OperationalError:  # locked exclusively, or deleted
            return None
