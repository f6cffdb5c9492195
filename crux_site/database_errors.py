"""Errors of the database that are not of the code: unavailable, locked, disk full."""

from django.db import InterfaceError, OperationalError

_FULL = ("SQLITE_FULL", "53100")  # of SQLite, and the SQLSTATE of PostgreSQL


def is_transient(error: BaseException | None) -> bool:
    """True if the database was unreachable, locked or without space: a transient error.

    SQLite also raises OperationalError for a missing table or column: that is our fault.
    """
    is_of_database = isinstance(error, OperationalError | InterfaceError)
    return is_of_database and _code(error) != "SQLITE_ERROR"


def is_disk_full(error: BaseException | None) -> bool:
    """True if the database had no space left on its disk."""
    return _code(error) in _FULL


def _code(error: BaseException | None) -> str:
    """Return the code of the driver's error; "" for another error."""
    cause = error.__cause__ if error else None
    return getattr(cause, "sqlite_errorname", "") or getattr(cause, "sqlstate", "") or ""
