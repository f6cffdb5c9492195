"""Triggers that give a rater a new version when its ratings or their spans change.

The version is a random number, so a restored backup has none that newer data had. The database draws
it, so no writer has to remember. One row a rater: people who answer at the same time do not
wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

_VERSIONS = "annotation_ratingversion"
_RATINGS, _SPANS = "annotation_rating", "annotation_nuggetspan"
_EVENTS = {"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"}
_LARGEST = 2**48 - 1  # so that the sum over 32,000 raters fits 63 bits
_RANDOM = {
    "sqlite": f"random() & {_LARGEST}",
    "postgresql": f"(random() * {_LARGEST})::bigint",
}


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Drop the triggers before migrations: SQLite renames no table that one of them reads."""
    suffix = " ON {table}" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        for table in (_RATINGS, _SPANS):
            if table in connection.introspection.table_names(cursor):
                for event in _EVENTS:
                    name = f"{table}_version_{event.lower()}"
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name}{suffix.format(table=table)}")


def install_triggers(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers after migrations, and draw all versions anew: rows may have changed."""
    statements = _sqlite() if connection.vendor == "sqlite" else _postgresql()
    with connection.cursor() as cursor:
        if _VERSIONS not in connection.introspection.table_names(cursor):
            return
        for statement in statements:
            cursor.execute(statement)
        cursor.execute(f"UPDATE {_VERSIONS} SET token = {_RANDOM[connection.vendor]}")  # noqa: S608


def _sqlite() -> list[str]:
    """Return one trigger a row: it has no statement triggers, and one writer at a time."""
    statements = []
    for table in (_RATINGS, _SPANS):
        for event, row in _EVENTS.items():
            rater = f"{row}.rater_id"
            if table == _SPANS:
                rater = f"(SELECT rater_id FROM {_RATINGS} WHERE id = {row}.rating_id)"  # noqa: S608
            name = f"{table}_version_{event.lower()}"
            # No upsert: INSERT OR IGNORE of ratings would make one ignore its conflict as well.
            first = (
                f"INSERT INTO {_VERSIONS} (rater_id, token)"  # noqa: S608
                f" SELECT rater_id, 0 FROM (SELECT {rater} AS rater_id) WHERE rater_id IS NOT NULL"
                f" AND NOT EXISTS (SELECT 1 FROM {_VERSIONS} WHERE rater_id = {rater});"
            )
            draw = f"UPDATE {_VERSIONS} SET token = {_RANDOM['sqlite']} WHERE rater_id = {rater};"  # noqa: S608
            statements.append(
                f"CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {table}"
                f" BEGIN {first} {draw} END"
            )
    return statements


def _postgresql() -> list[str]:
    """Return one trigger a statement; raters are in order, so two statements do not deadlock."""
    statements = []
    for table in (_RATINGS, _SPANS):
        raters = "SELECT DISTINCT rater_id FROM changed"
        if table == _SPANS:
            raters = (
                f"SELECT DISTINCT rater_id FROM {_RATINGS}"  # noqa: S608
                " WHERE id IN (SELECT rating_id FROM changed)"
            )
        function = f"{table}_version"
        draw = (
            f"INSERT INTO {_VERSIONS} (rater_id, token)"  # noqa: S608
            f" SELECT rater_id, {_RANDOM['postgresql']} FROM ({raters} ORDER BY rater_id) AS raters"
            " ON CONFLICT (rater_id) DO UPDATE SET token = excluded.token;"
        )
        statements.append(
            f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql"
            f" AS $$ BEGIN {draw} RETURN NULL; END $$"
        )
        statements += [
            f"CREATE OR REPLACE TRIGGER {function}_{event.lower()} AFTER {event} ON {table}"
            f" REFERENCING {row} TABLE AS changed FOR EACH STATEMENT"
            f" EXECUTE FUNCTION {function}()"
            for event, row in _EVENTS.items()
        ]
    return statements
