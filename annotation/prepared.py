"""Prepared statements: SQL compiled once in a process; bulk inserts without duplicates.

Writing the SQL of a query takes Django ten times as long as the database needs to answer it. At the
addresses of an item, where a crowd works, that is felt, and on other pages by nobody.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators
from django.utils import timezone
from psycopg import Cursor

SQLITE_ROWS = 500  # of an insert; SQLite takes 32,766 values


class Prepared:
    """Query compiled once, with placeholders for primary keys.

    `build` is called once, with a number that stands for the key in each place, and gives a
    queryset of values_list. Other values of the query are constants. Values come as the database's
    driver has them: a UUID of SQLite is its hex digits, JSON is text.
    """

    STAND_IN = 1_900_000_001  # no other number of a query looks like it
    LARGEST = 2**63 - 1  # a database takes no larger key, not even to say that it has none

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], n_keys: int) -> None:
        self._build = build
        self._stand_ins = range(self.STAND_IN, self.STAND_IN + n_keys)
        self._compiled: tuple[Any, str, list[Any]] | None = None

    def all(self, *keys: int) -> list[tuple[Any, ...]]:
        """Return the rows for these keys."""
        if self._compiled is None:
            compiler = self._build(*self._stand_ins).query.get_compiler(DEFAULT_DB_ALIAS)
            sql, values = compiler.as_sql()
            self._compiled = compiler, sql, list(values)
        if max(keys) > self.LARGEST:
            return []
        _, sql, params = self._compiled
        placeholders = self._stand_ins
        return execute_prepared(
            sql,
            [keys[value - placeholders[0]] if value in placeholders else value for value in params],
        )

    def first(self, *keys: int) -> tuple[Any, ...] | None:
        """Return the first row for these keys; None where there is none."""
        rows = self.all(*keys)
        return rows[0] if rows else None


class PreparedObjects(Prepared):
    """Prepared query for model instances; `build` gives a queryset, also with select_related.

    Instances are as a queryset has them, annotations included; prefetch_related is not done.
    """

    _layout: tuple[type[Model], slice, list[str], list[Any], dict[int, Any]] | None = None

    def objects(self, *keys: int) -> list[Any]:
        """Return the instances for these keys."""
        rows = self.all(*keys)
        if not rows or self._compiled is None:
            return []
        compiler = self._compiled[0]
        if self._layout is None:
            self._layout = self._read_layout(compiler)
        model, columns, names, populators, converters = self._layout
        instances = []
        for row in compiler.apply_converters(rows, converters):
            instance = model.from_db(DEFAULT_DB_ALIAS, names, row[columns])
            for populator in populators:
                populator.populate(row, instance)
            for name, column in (compiler.annotation_col_map or {}).items():
                setattr(instance, name, row[column])
            instances.append(instance)
        return instances

    @staticmethod
    def _read_layout(compiler: Any) -> Any:
        """Return the model, its columns and their names, its related objects and the converters.

        As Django's ModelIterable finds them for each query.
        """
        positions = compiler.klass_info["select_fields"]
        columns = slice(positions[0], positions[-1] + 1)
        names = [column.target.attname for column, *_ in compiler.select[columns]]
        populators = get_related_populators(  # type: ignore[call-arg]  # the stubs are of Django 6
            compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS
        )
        converters = compiler.get_converters([column for column, *_ in compiler.select])
        return compiler.klass_info["model"], columns, names, populators, converters


class PreparedInsert:
    """Compiled insert of a model's rows, without signals; updates on conflict.

    The model has a field with auto_now_add, or not. A row that is there already, by the unique
    fields, takes over the values of `updates`.
    """

    def __init__(
        self, model: type[Model], unique: Iterable[str] = (), updates: Iterable[str] = ()
    ) -> None:
        self._model = model
        self._fields = [field for field in model._meta.concrete_fields if not field.primary_key]
        self._stamp = [field for field in self._fields if getattr(field, "auto_now_add", False)]
        self._unique = [_field(model, name) for name in unique]
        self._updates = [_field(model, name) for name in updates]
        self._written: tuple[str, str, str] | None = None  # up to the values, of a row, after them

    def insert_one(self, row: Model) -> bool:
        """Insert a row and set its key, or that of the existing row; return whether it is new.

        An existing row keeps its time of creation, and that tells it.
        """
        values = self._values([row])
        [(row.pk, *stored_stamps)] = execute_prepared(self._sql(1), values)
        sent_stamps = [values[self._fields.index(field)] for field in self._stamp]
        return list(map(str, stored_stamps)) == list(map(str, sent_stamps))

    def insert_many(self, rows: Sequence[Model]) -> None:
        """Insert some rows in one statement. They are not given their keys."""
        execute_prepared(self._sql(len(rows)), self._values(rows))

    def _values(self, rows: Sequence[Model]) -> list[Any]:
        database = _database()
        return [
            field.get_db_prep_save(field.pre_save(row, add=True), database)
            for row in rows
            for field in self._fields
        ]

    def _sql(self, number: int) -> str:
        if self._written is None:
            table = _name(self._model._meta.db_table)
            columns = ", ".join(_name(field.column) for field in self._fields)
            conflict = ""
            if self._unique:
                unique_columns = ", ".join(_name(field.column) for field in self._unique)
                names = [_name(field.column) for field in self._updates]
                assignments = ", ".join(f"{name} = excluded.{name}" for name in names)
                conflict = f" on conflict ({unique_columns}) do update set {assignments}"
            returned = [self._model._meta.pk, *self._stamp]
            self._written = (
                f"insert into {table} ({columns}) values ",  # noqa: S608
                f"({', '.join(['%s'] * len(self._fields))})",
                f"{conflict} returning {', '.join(_name(field.column) for field in returned)}",
            )
        prefix, row, suffix = self._written
        return prefix + ", ".join([row] * number) + suffix


def insert_new(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    """Insert rows that break no unique constraint, and return their number.

    Each value becomes one of its column's type, so that a whole number among floats is a float; JSON is
    given as text. Any other constraint that one breaks is an IntegrityError, and then none is inserted.
    """
    fields = _fields(model, columns)
    by_column = [
        [field.get_prep_value(value) for value in values]
        for field, values in zip(fields, zip(*rows, strict=True), strict=True)
    ]
    return _insert(model, fields, list(zip(*by_column, strict=True)), " ON CONFLICT DO NOTHING")


def insert_all(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Bulk-insert rows as bulk_create does, without objects, signals or keys.

    Values are of their column's type, times as `stamp` gives them; a column that is left out is
    null. In a transaction, which a constraint that one of the rows breaks ends with an
    IntegrityError.
    """
    if rows:
        _insert(model, _fields(model, columns), rows, "")


def stamp(time: datetime | None = None) -> Any:
    """Return a time, or the present, as the driver takes it."""
    return _database().ops.adapt_datetimefield_value(time or timezone.now())


def _fields(model: type[Model], columns: Sequence[str]) -> list[Any]:
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    return [by_name[column] for column in columns]


def _insert(
    model: type[Model], fields: Sequence[Any], rows: Sequence[Sequence[Any]], ending: str
) -> int:
    database = _database()
    names = ", ".join(_name(field.column) for field in fields)
    into = f"INSERT INTO {_name(model._meta.db_table)} ({names})"
    with database.cursor() as cursor:
        if database.vendor == "postgresql":
            # One parameter a column, however many rows there are.
            arrays = ", ".join(f"%s::{field.db_type(database)}[]" for field in fields)
            by_column = [list(values) for values in zip(*rows, strict=True)]
            cursor.execute(f"{into} SELECT * FROM unnest({arrays}){ending}", by_column)  # noqa: S608
            return int(cursor.rowcount)
        # The triggers of a table cost SQLite more for each statement than for each row.
        placeholders = f"({', '.join('%s' for _ in fields)})"
        n_inserted = 0
        for start in range(0, len(rows), SQLITE_ROWS):
            batch = rows[start : start + SQLITE_ROWS]
            values = ", ".join([placeholders] * len(batch))
            cursor.execute(f"{into} VALUES {values}{ending}", list(chain.from_iterable(batch)))
            n_inserted += cursor.rowcount
        return n_inserted


def execute_prepared(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Execute a statement and return its rows.

    The driver's own cursor plans it once for each connection, which Django's cannot ask of PostgreSQL.
    """
    database = _database()
    # As Django does before it makes a cursor.
    database.close_if_health_check_failed()
    database.ensure_connection()
    database.validate_no_broken_transaction()
    with database.wrap_database_errors:
        if database.vendor == "sqlite" and database.queries_logged:  # as Django logs its own alone
            with database.cursor() as cursor:
                return cursor.execute(sql, values).fetchall()
        if database.vendor == "sqlite":
            return database.connection.execute(_with_question_marks(sql), values).fetchall()
        with Cursor(database.connection) as cursor:
            return cursor.execute(sql, values, prepare=True).fetchall()


@lru_cache(maxsize=256)
def _with_question_marks(sql: str) -> str:
    """Return a statement with the placeholders of SQLite's driver."""
    return "%".join(part.replace("%s", "?") for part in sql.split("%%"))


def _database() -> Any:
    return connections[DEFAULT_DB_ALIAS]  # itself: django.db.connection takes a while at each look


def _field(model: type[Model], name: str) -> Any:
    return model._meta.get_field(name)


def _name(column: Any) -> str:
    name: str = _database().ops.quote_name(column)
    return name
