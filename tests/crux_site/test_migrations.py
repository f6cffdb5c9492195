"""A database that went the way of all migrations ends where a new one begins, with the squashed ones."""

import os
import subprocess
import sys
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

TABLES = """
from collections import Counter

from django.core.management import call_command
from django.db import connection

call_command("migrate", verbosity=0)

SAYS = ("columns", "primary_key", "unique", "foreign_key", "check", "index")  # all but its name

with connection.cursor() as cursor:
    for table in sorted(connection.introspection.table_names()):
        columns = connection.introspection.get_table_description(cursor, table)
        print(table, sorted((c.name, c.type_code, c.internal_size, c.null_ok, c.default) for c in columns))
        found = connection.introspection.get_constraints(cursor, table).values()
        print(*sorted(Counter(str([one[key] for key in SAYS]) for one in found).items()), sep="\\n")
"""


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
@pytest.mark.database  # two of its own, of the same kind
def test_one_by_one_and_squashed_they_make_the_same_tables(tmp_path):
    kind = "sqlite" if connection.vendor == "sqlite" else "postgres"
    with database(kind, tmp_path, f"crux_migrated_{os.getpid()}") as (address, rows):
        old = in_a_process(ONE_BY_ONE + WITH_DATA + TABLES, address)
        went = {
            name for (name,) in rows("select name from django_migrations where app = 'annotation'")
        }
        # Every researcher saw every dataset, and goes on so.
        assert rows(MEMBERS) == [("ferry", "main", "rosa", "researcher")]
    (tmp_path / "new").mkdir()
    with database(kind, tmp_path / "new", f"crux_new_{os.getpid()}") as (address, _):
        new = in_a_process(TABLES, address)
    assert went >= {"0020_groups_of_topics", "0001_squashed_0020_groups_of_topics"}
    assert "annotation_rating" in new
    assert old == new
