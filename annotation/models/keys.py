"""Rows that come back under the key that they had before they were deleted."""

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
        last = _last_given(model)
        free = {key for key in free if key <= last}
    return free


def _last_given(model: type[models.Model]) -> int:
    names = [model._meta.db_table, model._meta.pk.column]
    with connection.cursor() as cursor:
        cursor.execute(
            "select coalesce(pg_sequence_last_value(pg_get_serial_sequence(%s, %s)::regclass), 0)",
            names,
        )
        last: int = cursor.fetchone()[0]
    return last
