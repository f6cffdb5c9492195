"""A crowd at work while the server is killed, on both databases; `make bench-campaign` is the long form."""

import os

import psycopg
import pytest

from bench.campaign import Plan, run
from bench.serving import PG_URL

# Three items of each worker before the kill and three after it, for which a slow machine has its time.
PLAN = Plan(seconds=240, enough=24, workers=8, kills=1, items=600, questions=4)


def postgres_is_there():
    url = os.environ.get("PG_URL", PG_URL)
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        pytest.skip(f"NO PostgreSQL at {url} (PG_URL=... names another): tried on SQLite alone")


@pytest.mark.timing
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_nothing_is_lost_when_the_server_is_killed_under_a_crowd(database):
    if database == "postgres":
        postgres_is_there()
    outcome = run(database, PLAN, name=f"crux_load_{os.getpid()}")
    assert outcome.stopped == []
    assert {what: number for what, number in outcome.wrong.items() if number} == {}
    assert outcome.there["workers"] == 8
    assert outcome.there["answers sent"] == outcome.there["answers acknowledged"] > 0
    assert outcome.there["items handed in"] >= 2 * PLAN.enough
    assert len(outcome.restarts) == 1
