"""Whether anything has been written to the database since somebody looked: told without reading a row.

SQLite counts what others have committed for each of its connections, so a connection that never writes sees
everybody's. PostgreSQL names the transactions that a snapshot sees: two of the same name see the same rows.
"""

import os
import sqlite3
import threading
from collections.abc import Hashable
from pathlib import Path
from urllib.parse import quote

from django.db import connection

_watching: dict[tuple[str, int, int], sqlite3.Connection] = {}
_one_at_a_time = threading.Lock()


def mark() -> Hashable | None:
    """The same as long as nothing is written, by whomever; None where that cannot be told.

    That is so within a transaction, which may have written something itself, and of a database in memory.
    """
    if connection.in_atomic_block:
        return None
    return _of_sqlite() if connection.vendor == "sqlite" else _of_postgresql()


def _of_postgresql() -> Hashable:
    with connection.cursor() as cursor:
        cursor.execute("select current_database(), pg_current_snapshot()::text")
        name, snapshot = cursor.fetchone()
    return name, snapshot


def _of_sqlite() -> Hashable | None:
    path = Path(connection.settings_dict["NAME"])
    try:
        there = path.stat()
    except OSError:
        return None
    # A file that was put in the place of another is another database, and a connection is of one process.
    file = (str(path), there.st_ino, os.getpid())
    with _one_at_a_time:
        try:
            if file not in _watching:
                _watching[file] = sqlite3.connect(
                    f"file:{quote(str(path))}?mode=ro", uri=True, check_same_thread=False
                )
            return file, _watching[file].execute("pragma data_version").fetchone()
        except sqlite3.OperationalError:  # somebody has all of it to himself, or it is gone
            return None
