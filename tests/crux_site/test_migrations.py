"""A database that went the way of all migrations ends where a new one begins, with the squashed ones."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from django.db import connection

from bench.serving import database

ROOT = Path(__file__).resolve().parents[2]

ONE_BY_ONE = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

executor = MigrationExecutor(connection)
squashed = executor.loader.replacements
executor.loader = MigrationLoader(connection, replace_migrations=False)
last = [migration.replaces[-1] for migration in squashed.values()]
executor.migrate(last + [key for key in executor.loader.graph.leaf_nodes() if key[0] not in dict(last)])
"""

WITH_DATA = """
old = executor.loader.project_state(last).apps
old.get_model("annotation", "Dataset").objects.create(slug="ferry", title="The ferry study")
for name, role in (("rosa", "researcher"), ("wil", "worker")):
    old.get_model("annotation", "User").objects.create(username=name, role=role)
"""

MEMBERS = """
select d.slug, p.slug, u.username, m.role from annotation_dataset d
join annotation_project p on p.id = d.project_id
join annotation_membership m on m.project_id = p.id join annotation_user u on u.id = m.user_id
"""

SAYS = ("columns", "primary_key", "unique", "foreign_key", "check", "index")  # all but its name

TABLES = """
from django.core.management import call_command

from tests.crux_site.test_migrations import tables

call_command("migrate", verbosity=0)
print(tables())
"""


def tables() -> str:
    """The tables of the database that is connected, with their columns and constraints."""
    lines = []
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names()):
            columns = connection.introspection.get_table_description(cursor, table)
            kinds = [(c.name, c.type_code, c.internal_size, c.null_ok, c.default) for c in columns]
            lines.append(f"{table} {sorted(kinds)}")
            found = connection.introspection.get_constraints(cursor, table).values()
            count = Counter(str([one[key] for key in SAYS]) for one in found)
            lines += map(str, sorted(count.items()))
    return "\n".join(lines)


def in_a_process(code: str, address: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(){code}"],
        env=os.environ | {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "crux_site.settings"},
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


@pytest.mark.soak
def test_one_by_one_and_squashed_they_make_the_same_tables(db, tmp_path):
    kind = "sqlite" if connection.vendor == "sqlite" else "postgres"
    with database(kind, tmp_path, f"crux_migrated_{os.getpid()}") as (address, rows):
        old = in_a_process(ONE_BY_ONE + WITH_DATA + TABLES, address)
        went = {
            name for (name,) in rows("select name from django_migrations where app = 'annotation'")
        }
        # Every researcher saw every dataset, and goes on so.
        assert rows(MEMBERS) == [("ferry", "main", "rosa", "researcher")]
    assert went >= {"0020_groups_of_topics", "0001_squashed_0020_groups_of_topics"}
    new = tables()  # of the tests' own database, a new one
    assert "annotation_rating" in new
    assert old == f"{new}\n"
