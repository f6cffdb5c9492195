"""SQLite backend in which the threads of a process take turns at writing.

SQLite lets one connection write at a time. The others look again after a while, and the while
grows to a tenth of a second: under load some wait for seconds. Here a thread waits for its turn
and goes on the moment it comes; only processes, which are few, still look again.

Another process may keep the lock for long: an import does. Whoever has waited for it in vain is told that
the database is locked, and for as long as that lasts the others are told at once: the threads of a server
are few, and those that wait would be missing to people who only read.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

from django.db import OperationalError, transaction
from django.db.backends.sqlite3 import base

AT_ONCE = 0.1  # seconds
_turns: dict[str, threading.Lock] = {}  # by file
_refused: dict[str, float] = {}  # by file: when one of us waited in vain for another process


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's SQLite wrapper; a transaction holds the process's write lock until its end."""

    _has_turn = False
    _is_read_only = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        _make_private(conn_params["database"])
        return super().get_new_connection(conn_params)

    @property
    def _turn(self) -> threading.Lock:
        return _turns.setdefault(str(self.settings_dict["NAME"]), threading.Lock())

    @contextlib.contextmanager
    def read_only_transaction(self) -> Iterator[None]:
        """Read one state of the database in a transaction that no writer waits for."""
        self._is_read_only = True
        try:
            with transaction.atomic(using=self.alias):
                with self.wrap_database_errors:
                    self.connection.execute("PRAGMA query_only = 1")
                    # The state is that of the first query.
                    self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                yield
        finally:
            self._is_read_only = False
            if self.connection is not None:
                self.connection.execute("PRAGMA query_only = 0")

    def _start_transaction_under_autocommit(self) -> None:
        if self._is_read_only:
            with self.wrap_database_errors:
                self.connection.execute("BEGIN DEFERRED")
            return
        name, timeout = str(self.settings_dict["NAME"]), self.settings_dict["OPTIONS"]["timeout"]
        began = time.monotonic()
        is_locked = began - _refused.get(name, -timeout) < timeout
        until = began + (AT_ONCE if is_locked else timeout)
        self._has_turn = self._turn.acquire(timeout=until - began)
        try:
            self._wait_for(max(0, until - time.monotonic()))
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException as error:
            if self._has_turn and isinstance(error, OperationalError):
                _refused[name] = time.monotonic()
            self._pass_on()
            raise
        finally:
            self._wait_for(timeout)
        _refused.pop(name, None)

    def _wait_for(self, seconds: float) -> None:
        """Set how long SQLite waits for another process before it reports a lock."""
        self.connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def _commit(self) -> Any:
        try:
            return super()._commit()  # type: ignore[misc]
        finally:
            self._pass_on()

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]
        finally:
            self._pass_on()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._turn.release()


def _make_private(path: str) -> None:
    """Create a database file that does not exist, readable by its owner alone.

    Its logs get the same rights. SQLite itself would let everybody on the machine read it. If it cannot be
    created, SQLite says why.
    """
    if path != ":memory:" and not path.startswith("file:"):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
