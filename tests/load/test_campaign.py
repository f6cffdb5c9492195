"""Load test of both databases: workers continue while the server is killed.

`make bench-campaign` is the long form.
"""

import os

import psycopg
import pytest

from bench.campaign import Plan, run
from bench.serving import PG_URL
from tests.toolbox.clock import HANGS

# Three items of each worker before the kill and three after it, for which a slow machine has its time.
PLAN = Plan(seconds=HANGS, enough=24, workers=8, kills=1, items=600, questions=4)


def postgres_is_there():
    url = os.environ.get("PG_URL", PG_URL)
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        pytest.skip(f"NO PostgreSQL at {url} (PG_URL=... names another): tried on SQLite alone")


@pytest.mark.timing
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_killed_server_loses_no_answer(database, prepared, monkeypatch):
    monkeypatch.setenv("BENCH_PREPARED", str(prepared))
    if database == "postgres":
        postgres_is_there()
    outcome = run(database, PLAN, name=f"crux_load_{os.getpid()}")
    assert outcome.stopped == []
    assert {name: number for name, number in outcome.violations.items() if number} == {}
    assert outcome.totals["workers"] == 8
    assert outcome.totals["answers sent"] == outcome.totals["answers acknowledged"] > 0
    assert outcome.totals["items submitted"] >= 2 * PLAN.enough
    assert len(outcome.restarts) == 1
