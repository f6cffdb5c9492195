"""Triggers that give a rater a new version when its ratings or their spans change.

The version of a rater is the sum of its rows in `annotation_ratingversion`, which have random numbers. A
write inserts a row, and deletes those before it that no other transaction holds: nobody waits, so
transactions that write several raters in any order cannot deadlock. Random, since a restored
backup must not reach the version of newer data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

# Of 48 bits: the sum over 32,000 rows fits 63.
_RANDOM = {
    "sqlite": f"random() & {2**48 - 1}",
    "postgresql": f"(random() * {2**48 - 1})::bigint",
}
# SQL has no parameters in triggers; names and numbers are those of this module.
_SQLITE = """
CREATE TRIGGER IF NOT EXISTS {trigger} AFTER {event} ON {table} BEGIN
    DELETE FROM annotation_ratingversion WHERE rater_id = {rater};
    INSERT INTO annotation_ratingversion (rater_id, token)
    SELECT rater_id, {random} FROM (SELECT {rater} AS rater_id)
    WHERE rater_id IS NOT NULL;
END
"""
_POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION {table}_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    raters bigint[] := ARRAY({raters});
BEGIN
    DELETE FROM annotation_ratingversion WHERE id IN (
        SELECT id FROM annotation_ratingversion WHERE rater_id = ANY (raters) FOR UPDATE SKIP LOCKED
    );
    INSERT INTO annotation_ratingversion (rater_id, token)
    SELECT rater_id, {random} FROM unnest(raters) AS rater_id;
    RETURN NULL;
END $$
"""
_POSTGRESQL_TRIGGER = """
CREATE OR REPLACE TRIGGER {trigger} AFTER {event} ON {table}
REFERENCING {row} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {table}_version()
"""
_NEW_VERSIONS = "UPDATE annotation_ratingversion SET token = {random}"
_EVENTS = {"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"}
_RATER_OF_ROW = {
    "annotation_rating": "{row}.rater_id",
    "annotation_nuggetspan": "(SELECT rater_id FROM annotation_rating WHERE id = {row}.rating_id)",
}
_RATERS_OF_STATEMENT = {
    "annotation_rating": "SELECT DISTINCT rater_id FROM changed",
    "annotation_nuggetspan": "SELECT DISTINCT rater_id FROM annotation_rating WHERE id IN"
    " (SELECT rating_id FROM changed)",
}


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Drop the triggers before migrations: SQLite renames no table that one of them reads."""
    of_table = " ON {table}" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        existing = set(connection.introspection.table_names(cursor))
        for table in existing & _RATER_OF_ROW.keys():
            for event in _EVENTS:
                cursor.execute(
                    f"DROP TRIGGER IF EXISTS {_trigger(table, event)}{of_table.format(table=table)}"
                )


def install_triggers(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers after migrations, and new versions, as ratings may have changed."""
    with connection.cursor() as cursor:
        if "annotation_ratingversion" not in connection.introspection.table_names(cursor):
            return
        for table, rater in _RATER_OF_ROW.items():
            names = {"table": table, "random": _RANDOM[connection.vendor]}
            if connection.vendor == "postgresql":
                raters = _RATERS_OF_STATEMENT[table]
                cursor.execute(_POSTGRESQL_FUNCTION.format(**names, raters=raters))
            sql = _POSTGRESQL_TRIGGER if connection.vendor == "postgresql" else _SQLITE
            for event, row in _EVENTS.items():
                names |= {"trigger": _trigger(table, event), "event": event, "row": row}
                cursor.execute(sql.format(**names, rater=rater.format(row=row)))
        cursor.execute(_NEW_VERSIONS.format(random=_RANDOM[connection.vendor]))


def _trigger(table: str, event: str) -> str:
    return f"{table}_version_{event.lower()}"
