"""System check that refuses databases older than the oldest version that can be upgraded."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

OLDEST_VERSION, RELEASED = "0.2.0", "2026-11-26"
# First migration of each app. It replaces those of all versions up to the oldest.
SQUASHED = f"0001_squashed_{OLDEST_VERSION.replace('.', '_')}"


@register(Tags.database)
def check_oldest_version(*, databases: Sequence[str] | None, **_: Any) -> list[CheckMessage]:
    """Return an error for each database that lacks migrations of the oldest version.

    `manage.py migrate` runs this first. Without it, it would end with a traceback, or create tables that
    exist.
    """
    replacements = MigrationLoader(None).replacements  # of the files; the database is not read
    squashed = [migration for (_, name), migration in replacements.items() if name == SQUASHED]
    errors: list[CheckMessage] = []
    for alias in databases or []:
        applied = set(MigrationRecorder(connections[alias]).applied_migrations())
        apps = sorted(
            migration.app_label
            for migration in squashed
            if any(app == migration.app_label for app, _ in applied)  # else its tables are created
            and (migration.app_label, SQUASHED) not in applied
            and not applied.issuperset(migration.replaces)
        )
        if apps:
            errors.append(
                Error(
                    f"The database '{alias}' is older than version {OLDEST_VERSION} of {RELEASED}: it lacks"
                    f" migrations of {', '.join(apps)}.",
                    hint=f"Upgrade to {OLDEST_VERSION} first: install that version and run its"
                    " `manage.py migrate`. Then install this version and run `manage.py migrate` again."
                    " Nothing was changed.",
                    id="crux_site.E001",
                )
            )
    return errors
