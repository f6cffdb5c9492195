"""Primary keys: the last value of a table's sequence, and rows restored with their keys."""

from collections.abc import Iterable

from django.db import connection, models


def free_keys(model: type[models.Model], keys: Iterable[int | None]) -> set[int]:
    """Return the keys that a restored row can have again: unused, and never given again.

    In a database that was moved, keys may belong to other rows, and on PostgreSQL lie ahead of the
    sequence, which goes on behind the last row that came along; SQLite counts from the greatest key
    ever used.
    """
    requested = {key for key in keys if key is not None}
    free = requested - model._base_manager.in_bulk(requested).keys()
    if connection.vendor == "postgresql":
        last = last_key(model)
        free = {key for key in free if key <= last}
    return free


def last_key(model: type[models.Model]) -> int:
    """Return the last key of the table's sequence, also if its row is gone or not committed.

    Not the greatest existing key: superseded ratings are no rows for a while and return with
    theirs.
    """
    names = [model._meta.db_table, model._meta.pk.column]
    sql = "select coalesce(pg_sequence_last_value(pg_get_serial_sequence(%s, %s)::regclass), 0)"
    if connection.vendor == "sqlite":
        names = names[:1]
        sql = "select coalesce((select seq from sqlite_sequence where name = %s), 0)"
    with connection.cursor() as cursor:
        cursor.execute(sql, names)
        last: int = cursor.fetchone()[0]
    return last


def skip_keys(model: type[models.Model], last: int) -> None:
    """Advance the table's sequence to at least `last`. In a transaction.

    SQLite forgets keys of deleted rows when a migration rebuilds a table, and both databases do
    when rows are copied into another one.
    """
    if last_key(model) >= last:
        return
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("delete from sqlite_sequence where name = %s", [table])
            cursor.execute("insert into sqlite_sequence (name, seq) values (%s, %s)", [table, last])
        else:
            cursor.execute(
                "select setval(pg_get_serial_sequence(%s, %s)::regclass, %s)", [table, column, last]
            )
