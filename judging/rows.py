"""Many rows into a table at once, past those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Model


def insert_new(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    """Insert rows that break no unique constraint, and return how many those were.

    Values are as the database's driver takes them, JSON as text. Any other constraint that one breaks
    is an IntegrityError, and then none is inserted.
    """
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    into = f"INSERT INTO {quote(model._meta.db_table)} ({names})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # One parameter a column, however many rows there are.
            types = (model._meta.get_field(column).db_type(connection) for column in columns)
            arrays = ", ".join(f"%s::{kind}[]" for kind in types)
            sql = f"{into} SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING"  # noqa: S608
            cursor.execute(sql, [list(values) for values in zip(*rows, strict=True)])
        else:
            places = ", ".join("%s" for _ in columns)
            cursor.executemany(f"{into} VALUES ({places}) ON CONFLICT DO NOTHING", rows)
        return int(cursor.rowcount)
