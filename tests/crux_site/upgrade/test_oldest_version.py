"""Databases that are older than the oldest version are refused with the remedy."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from bench.serving import ROOT
from crux_site.checks import OLDEST_VERSION, SQUASHED
from tests.toolbox.installed_apps import OUR_APPS

APPS = [app for app in OUR_APPS if app != "crux_site"]
OLD = f"older than version {OLDEST_VERSION}"


def run_check() -> None:
    call_command("check", databases=["default"])


def forget(**names: str) -> None:
    MigrationRecorder.Migration.objects.filter(**names).delete()


def test_each_app_begins_with_one_squashed_migration():
    first = {app: [] for app in APPS}
    for app, name in MigrationLoader(None).disk_migrations:
        if app in first and name.startswith("0001"):
            first[app].append(name)
    assert first == {app: [SQUASHED] for app in APPS}


def test_current_database_passes(db):
    run_check()


def test_database_of_the_oldest_version_passes(db):
    forget(name=SQUASHED)
    run_check()


def test_database_without_tables_passes(db):
    with connection.cursor() as cursor:
        cursor.execute("drop table django_migrations")
    run_check()


@pytest.mark.parametrize("app", APPS)
def test_database_that_lacks_a_migration_is_refused(db, app):
    newest = MigrationLoader(None).disk_migrations[app, SQUASHED].replaces[-1][1]
    forget(app=app, name=SQUASHED)
    forget(app=app, name=newest)
    with pytest.raises(SystemCheckError, match=f"{OLD} .* it lacks migrations of {app}\\."):
        run_check()


def test_database_with_other_migrations_alone_is_refused(db):
    """They are those of a version whose migrations are replaced no longer."""
    forget(app="annotation")
    MigrationRecorder(connection).record_applied("annotation", "0001_long_ago")
    with pytest.raises(SystemCheckError, match=f"Upgrade to {OLDEST_VERSION} first"):
        run_check()


def test_migrate_names_the_remedy_and_changes_nothing(tmp_path):
    path = tmp_path / "old.sqlite3"
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("create table django_migrations (id integer primary key, app, name, applied)")
        old.execute(
            "insert into django_migrations values (1, 'annotation', '0001_initial', '2026-11-21 09:00')"
        )
        before = [*old.iterdump()]
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        env=os.environ | {"DATABASE_URL": f"sqlite:///{path}"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert OLD in done.stderr
    assert "Traceback" not in done.stderr
    with closing(sqlite3.connect(path)) as old:
        assert [*old.iterdump()] == before
