"""PostgreSQL backend that works behind a connection pooler, or refuses it.

A pooler in transaction mode gives each transaction another server connection. Statements that one
client prepared are then there for the others, and run with their values. Settings of a connection
are lost. With `DATABASE_POOLED=1` the site uses neither.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, transaction
from django.db.backends.postgresql import base, creation

# Until the end of the transaction. A limit of the role or of the database is kept.
_LIMIT_WAITS = (
    "select set_config('lock_timeout', %s, true) where current_setting('lock_timeout') = '0'"
)


class UndeclaredPoolerError(ImproperlyConfigured, OperationalError):
    """The database is behind a pooler, and DATABASE_POOLED is not set.

    A process that starts ends with this text. If it serves already, the database counts as
    unavailable.
    """

    def __init__(self) -> None:
        super().__init__(
            "DATABASE_URL names a connection pooler such as PgBouncer: set DATABASE_POOLED=1, or name"
            " the PostgreSQL server itself."
        )


class DatabaseCreation(creation.DatabaseCreation):
    """Creates and drops test databases."""

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:
        """Drop a test database, to which a pooler keeps connections."""
        name = self.connection.ops.quote_name(test_database_name)
        with self._nodb_cursor() as cursor:  # type: ignore[attr-defined]  # private, not in the stubs
            cursor.execute(f"drop database {name} with (force)")


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL wrapper; waits for locks are limited behind a pooler, too."""

    creation_class = DatabaseCreation

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect. Raises UndeclaredPoolerError."""
        if settings.DATABASE_POOLED:
            return super().get_new_connection(conn_params)
        try:
            connection = super().get_new_connection(conn_params)
        except psycopg.OperationalError as error:
            if "unsupported startup parameter" in str(error):  # PgBouncer, by default
                raise UndeclaredPoolerError from error
            raise
        if _is_pooled(connection):
            connection.close()
            raise UndeclaredPoolerError
        return connection

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]  # private, not in the stubs
        if settings.DATABASE_POOLED and not autocommit:
            with self.wrap_database_errors:
                self.connection.execute(_LIMIT_WAITS, [settings.LOCK_TIMEOUT])

    @contextmanager
    def read_only_transaction(self) -> Iterator[None]:
        """Read one state of the database in a transaction that no writer waits for."""
        self.close_if_health_check_failed()  # before: a new connection would have none of this
        self.ensure_connection()
        connection = self.connection
        level = connection.isolation_level
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        try:
            with transaction.atomic(using=self.alias):
                yield
        finally:
            if not connection.closed:
                connection.isolation_level, connection.read_only = level, None


def _is_pooled(connection: Any) -> bool:
    """Return whether a pooler answers in place of the server process.

    The server process sends its id twice: with the key to cancel queries, when the connection
    begins, and as the result of a query. A pooler makes up its own keys.
    """
    connection.autocommit = True  # the query would begin a transaction
    [(pid,)] = connection.execute("select pg_backend_pid()").fetchall()
    return bool(pid != connection.info.backend_pid)
