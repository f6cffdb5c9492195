"""SQLite, where the threads of a process take turns at writing.

SQLite lets one connection write at a time. The others look again after a while, and the while
grows to a tenth of a second: under load some wait for seconds. Here a thread waits for its turn
and goes on the moment it comes; only processes, which are few, still look again.
"""

import contextlib
import os
import threading
from typing import Any

from django.db.backends.sqlite3 import base

_turns: dict[str, threading.Lock] = {}  # by file


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, but for the turn: from the beginning of a transaction to its end."""

    _has_turn = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        _make_private(conn_params["database"])
        return super().get_new_connection(conn_params)

    @property
    def _turn(self) -> threading.Lock:
        return _turns.setdefault(str(self.settings_dict["NAME"]), threading.Lock())

    def _start_transaction_under_autocommit(self) -> None:
        # Whoever has waited in vain is told by SQLite itself that the database is locked.
        self._has_turn = self._turn.acquire(timeout=self.settings_dict["OPTIONS"]["timeout"])
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._pass_on()
            raise

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
    """Make a database file that is not there yet for its owner alone; its logs get the same rights.

    SQLite itself would let everybody on the machine read it. Where it cannot be made, SQLite says why.
    """
    if path != ":memory:" and not path.startswith("file:"):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
