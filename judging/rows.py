"""Many rows into a table at once, past those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Model


def insert_new(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    """Insert rows that break no unique constraint, and return how many those were.

    Each value becomes one of its column's type, so that a whole number among floats is a float; JSON is
    given as text. Any other constraint that one breaks is an IntegrityError, and then none is inserted.
    """
    quote = connection.ops.quote_name
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_name[column] for column in columns]
    by_column = [
        [field.get_prep_value(value) for value in values]
        for field, values in zip(fields, zip(*rows, strict=True), strict=True)
    ]
    names = ", ".join(quote(column) for column in columns)
    into = f"INSERT INTO {quote(model._meta.db_table)} ({names})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # One parameter a column, however many rows there are.
            arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
            sql = f"{into} SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING"  # noqa: S608
            cursor.execute(sql, by_column)
        else:
            places = ", ".join("%s" for _ in columns)
            prepared = list(zip(*by_column, strict=True))
            cursor.executemany(f"{into} VALUES ({places}) ON CONFLICT DO NOTHING", prepared)
        return int(cursor.rowcount)
