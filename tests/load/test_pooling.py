"""PgBouncer in transaction mode, as a process: DATABASE_POOLED=1, and refusals without it."""

import json
import os

import pytest

from bench.campaign import Plan, run
from bench.pooler import PGBOUNCER, pooler
from bench.ports import free_port
from bench.serving import PG_URL
from tests.toolbox.clock import HANGS
from tests.toolbox.commands import run_python
from tests.toolbox.empty_site import postgres_is_there

SERVER = os.environ.get("PG_URL", PG_URL)
# More people than threads of the servers, and more threads than connections of the pool. Two servers with one
# database, as test_two_sites has them, get no item twice.
PLAN = Plan(seconds=HANGS, enough=20, workers=20, kills=0, items=200, questions=2, sites=2)

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not PGBOUNCER, reason="NO CONNECTION POOLER IS TESTED: no pgbouncer here"),
]


@pytest.fixture(autouse=True)
def _postgres():
    if not postgres_is_there():
        pytest.skip(f"NO CONNECTION POOLER IS TESTED: no PostgreSQL at {SERVER} (PG_URL=...)")


def test_crowd_on_two_sites_behind_a_pooler_loses_no_answer(prepared, monkeypatch):
    monkeypatch.setenv("BENCH_PREPARED", str(prepared))
    outcome = run("pooled", PLAN, name=f"crux_pooling_{os.getpid()}")
    assert outcome.stopped == []
    assert outcome.failures == {}
    assert {name: number for name, number in outcome.violations.items() if number} == {}
    assert outcome.totals["workers"] == PLAN.workers
    assert outcome.totals["answers sent"] == outcome.totals["answers stored"] > 0
    assert outcome.totals["items submitted"] >= PLAN.enough


@pytest.mark.parametrize("ignored", ["", "options"], ids=["options refused", "options ignored"])
def test_pooler_without_the_switch_is_refused(tmp_path, ignored):
    serve = "manage.py", "serve", "--port", str(free_port())
    with pooler(SERVER, tmp_path, ignore_startup_parameters=ignored) as url:
        for command in (serve, ("-c", "import crux_site.wsgi")):
            ended = run_python(*command, VAR_DIR=str(tmp_path), DATABASE_URL=url)
            assert ended.returncode == 1
            assert "DATABASE_URL names a connection pooler such as PgBouncer" in ended.stderr
            assert "set DATABASE_POOLED=1" in ended.stderr
            assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("switch", ["0", "1"])
def test_server_without_a_pooler_is_accepted(tmp_path, switch):
    env = {"DATABASE_URL": SERVER, "DATABASE_POOLED": switch, "VAR_DIR": str(tmp_path)}
    ended = run_python("-W", "ignore", "-c", "import crux_site.wsgi", **env)
    assert (ended.returncode, ended.stderr) == (0, "")


# In the database of a test runner, which connects as the site does.
SESSION = """
import json
import os
from django.db import connection, transaction
from annotation.models import Rubric
from annotation.prepared import execute_prepared

def value(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]

def lock_timeout():
    with transaction.atomic():
        return value("show lock_timeout")

name = connection.settings_dict["NAME"]
connection.settings_dict["TEST"] |= {"NAME": f"crux_pooling_{os.getpid()}", "MIGRATE": False}
connection.creation.create_test_db(verbosity=0)
try:
    session = {
        "default": lock_timeout(),
        "rows": execute_prepared("select %s::int", [7]),
        "prepared": value("select count(*) from pg_prepared_statements"),
    }
    Rubric.objects.bulk_create(Rubric(slug=f"r{number}", title="R") for number in range(5))
    session["rubrics"] = len([*Rubric.objects.filter(title="R").iterator(chunk_size=2)])
    with connection.cursor() as cursor:
        database = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"alter database {database} set lock_timeout = '7s'")
    session["of the database"] = lock_timeout()
finally:
    connection.creation.destroy_test_db(name, verbosity=0)
print(json.dumps(session))
"""


def test_each_transaction_may_have_another_connection(tmp_path):
    # With a lifetime of 0 each has a new one.
    with pooler(SERVER, tmp_path, server_lifetime="0") as url:
        ended = run_python(
            *("manage.py", "shell", "-v0", "-c", SESSION),
            VAR_DIR=str(tmp_path),
            DATABASE_URL=url,
            DATABASE_POOLED="1",
        )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == {
        "default": "20s",
        "rows": [[7]],
        "prepared": 0,
        "rubrics": 5,
        "of the database": "7s",
    }
