"""Upgrade of a database of the oldest version: its rows, schema and pages."""

import lzma
import os
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Dataset, Text, User
from bench.serving import database
from building.models import Writing
from crux_site.checks import OLDEST_VERSION, SQUASHED
from judging.models import JudgeRun
from tests.crux_site.upgrade.dump import path_of_dump
from tests.crux_site.upgrade.seed import fill_every_table
from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.real_study import connected_to

# `migrate` adds a row of each for a new model.
FILLED_BY_DJANGO = ("auth_permission", "django_content_type")
SCHEMA = {
    "sqlite": ("select type, name, tbl_name, sql from sqlite_master",),
    "postgresql": (
        "select table_name, column_name, data_type, character_maximum_length, numeric_precision,"
        " numeric_scale, is_nullable, column_default, is_identity, identity_generation"
        " from information_schema.columns where table_schema = 'public'",
        "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint"
        " where connamespace = 'public'::regnamespace",
        "select tablename, indexname, indexdef from pg_indexes where schemaname = 'public'",
        "select proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace",
        "select tgrelid::regclass::text, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal",
        "select sequence_name, data_type, start_value, increment from information_schema.sequences"
        " where sequence_schema = 'public'",
    ),
}

Rows = dict[str, tuple[list[str], list[str]]]


@dataclass(frozen=True)
class Upgrade:
    """Database that was upgraded: its name, and what it held before and after."""

    name: str
    old_rows: Rows
    new_rows: Rows
    migrations: set[tuple[str, str]]
    schema: list[tuple[Any, ...]]


def _load_dump(address: str) -> None:
    with lzma.open(path_of_dump(OLDEST_VERSION, connection.vendor), "rt", encoding="utf-8") as file:
        statements = file.read()
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as target:
            target.executescript(statements)
    else:
        with psycopg.connect(address) as target:
            target.execute(statements)


def _read_rows(columns_of: Rows | None = None) -> Rows:
    """Return the rows of all tables, or of the tables and columns that were read before."""
    rows: Rows = {}
    with connection.cursor() as cursor:
        for table in sorted(columns_of or connection.introspection.table_names(cursor)):
            columns = columns_of[table][0] if columns_of else ["*"]
            cursor.execute(f"select {', '.join(columns)} from {table}")  # noqa: S608 - names of tables
            names = [f'"{column[0]}"' for column in cursor.description]
            rows[table] = names, sorted(map(repr, cursor.fetchall()))
    return rows


def _empty_tables(rows: Rows) -> list[str]:
    return [table for table, (_, lines) in rows.items() if not lines]


def _read_schema() -> list[tuple[Any, ...]]:
    schema: list[tuple[Any, ...]] = []
    with connection.cursor() as cursor:
        for query in SCHEMA[connection.vendor]:
            cursor.execute(query)
            schema += cursor.fetchall()
    if connection.vendor == "postgresql":
        # A condition that was dumped and loaded has its casts and parentheses at other places.
        schema = [(*row[:-1], re.sub(r"::[a-z ]+(\[\])?|[()]", "", str(row[-1]))) for row in schema]
    return sorted(schema, key=repr)


@pytest.fixture(scope="module")
def upgrade(django_db_setup, django_db_blocker, tmp_path_factory):
    folder, name = tmp_path_factory.mktemp("upgrade"), f"crux_upgrade_{os.getpid()}"
    with django_db_blocker.unblock(), database(connection.vendor, folder, name) as (address, _):
        _load_dump(address)
        name = address.removeprefix("sqlite:///") if connection.vendor == "sqlite" else name
        with connected_to(name):
            old_rows = _read_rows()
            call_command("migrate", verbosity=0, skip_checks=False)
            with connection.cursor() as cursor:
                cursor.execute("select app, name from django_migrations")
                migrations = set(cursor.fetchall())
            result = Upgrade(name, old_rows, _read_rows(old_rows), migrations, _read_schema())
        yield result
        ContentType.objects.clear_cache()


@pytest.fixture
def upgraded_site(upgrade, django_db_blocker):
    """Connect Django to the upgraded database; return a client of an admin."""
    with django_db_blocker.unblock(), connected_to(upgrade.name):
        ContentType.objects.clear_cache()
        client = Client()
        client.force_login(User.objects.get(username="admin"))
        yield client


@pytest.fixture
def fresh_database(django_db_setup, django_db_blocker):
    """Allow reading the tests' own database, which `migrate` has just created."""
    with django_db_blocker.unblock():
        yield
        connection.close()


def test_dump_has_rows_in_every_table(upgrade):
    assert "annotation_rating" in upgrade.old_rows
    assert _empty_tables(upgrade.old_rows) == []


@pytest.mark.soak
def test_seed_of_the_next_dump_fills_every_table(db):
    fill_every_table()
    assert _empty_tables(_read_rows()) == []


def test_upgrade_keeps_all_rows(upgrade):
    data_rows = {
        table: rows for table, rows in upgrade.old_rows.items() if table != "django_migrations"
    }
    for table in FILLED_BY_DJANGO:
        old, new = data_rows.pop(table), upgrade.new_rows[table]
        assert set(old[1]) <= set(new[1])
    assert {table: upgrade.new_rows[table] for table in data_rows} == data_rows


def test_upgrade_records_one_migration_for_each_app(upgrade):
    assert upgrade.migrations >= {(app, SQUASHED) for app in OUR_APPS if app != "crux_site"}


def test_upgraded_database_has_the_schema_of_a_fresh_one(upgrade, fresh_database):
    assert upgrade.schema == _read_schema()


def test_fresh_database_lacks_no_migration(fresh_database):
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)


def test_upgraded_database_lacks_no_migration(upgraded_site):
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)
    call_command("migrate", check_unapplied=True, verbosity=0)


def test_upgraded_database_serves_pages(upgraded_site):
    dataset = Dataset.objects.get(slug="coastal-demo")
    written = Writing.objects.order_by("pk").first()
    pages = [
        *(reverse(name) for name in ("projects", "home", "campaigns", "judges", "people")),
        *(
            reverse(name, args=[dataset.slug])
            for name in ("dataset", "agreement", "matrices", "retrieval", "label_next", "history")
        ),
        *(reverse("campaign", args=[campaign.slug]) for campaign in Campaign.objects.all()),
        *(reverse("judge_run", args=[run.pk]) for run in JudgeRun.objects.all()),
        reverse("writing", args=[written.dataset.slug, written.pk]),
    ]
    statuses = {page: upgraded_site.get(page).status_code for page in pages}
    assert set(statuses.values()) == {200}, statuses


def test_upgraded_database_indexes_new_words(upgraded_site):
    text = Text.objects.exclude(body=None).first()
    text.body = f"{text.body} Zeppelin."
    text.save()
    (group,) = upgraded_site.get(reverse("search"), {"q": "zeppelin", "in": "texts"}).context[
        "groups"
    ]
    assert len(group.hits) == 1
