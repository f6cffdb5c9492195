"""Primary keys: the last one that a table has given, and rows that come back under the key that they had."""

from collections.abc import Iterable

from django.db import connection, models


def free_keys(model: type[models.Model], keys: Iterable[int | None]) -> set[int]:
    """Those of these keys that a row can have again: no other row has one, and none will be given one.

    In a database that was moved they may be of other rows, and on PostgreSQL ahead of the count: there it
    goes on behind the last row that came along; SQLite counts from the greatest key that there ever was.
    """
    wanted = {key for key in keys if key is not None}
    free = wanted - model._base_manager.in_bulk(wanted).keys()
    if connection.vendor == "postgresql":
        last = last_key(model)
        free = {key for key in free if key <= last}
    return free


def last_key(model: type[models.Model]) -> int:
    """The last key that the table's sequence has given: also to a row that is gone or was never committed.

    Not the greatest key that there is: superseded ratings are no rows for a while and come back with theirs.
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
    """Let the table give no key up to `last` again. In a transaction.

    SQLite forgets keys of rows that are gone when a migration makes a table anew, and both databases do when
    rows are copied into another one.
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
