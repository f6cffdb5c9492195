"""Database locked or unavailable: 503 with Retry-After; a repeated save is stored once."""

import sqlite3
from contextlib import closing, contextmanager, suppress
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection

from annotation.models import Answer, Campaign
from crux_site.database_errors import is_disk_full, is_transient
from crux_site.postgresql.base import UndeclaredPoolerError
from tests.toolbox.factories import REPORT, make_campaign
from tests.toolbox.task_answers import answer

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}


@contextmanager
def locked():
    """Somebody else has the lock that a save needs; whoever waits is told after a moment."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as writer:
            writer.execute("BEGIN IMMEDIATE")
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    parts = {k: v for k, v in connection.get_connection_params().items() if k in ("host", "port")}
    database, user = connection.settings_dict["NAME"], connection.settings_dict["USER"]
    with psycopg.connect(dbname=database, user=user, **parts) as writer:
        writer.execute("SELECT 1 FROM annotation_assignment FOR UPDATE")
        yield


@pytest.fixture
def impatient(monkeypatch):
    """impatient(seconds): how long a save waits for SQLite's lock."""

    def wait(seconds):
        connection.close()
        monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", seconds)

    if connection.vendor == "sqlite":
        wait(0.2)
    yield wait
    connection.close()


@pytest.fixture
def away(monkeypatch):
    def go():
        connection.close()
        name, value = {"sqlite": ("NAME", "/nowhere/crux.sqlite3")}.get(
            connection.vendor, ("PORT", "1")
        )
        monkeypatch.setitem(connection.settings_dict, name, value)

    yield go
    monkeypatch.undo()
    connection.close()


def patient_client(cast, account):
    client = cast.client(account)
    client.raise_request_exception = False
    return client


@pytest.fixture
def campaign(cast, dataset) -> Campaign:
    """Seen by other connections too."""
    return make_campaign(dataset, cast.worker, cast.other_worker)


def test_save_that_meets_a_lock_is_told_when_to_come_back(
    transactional_db, cast, assignment, impatient
):
    client, key = patient_client(cast, "worker"), uuid4()
    with locked():
        refused = answer(client, assignment, grade="0", key=key, **BY_SCRIPT)
        assert (refused.status_code, refused["Retry-After"]) == (503, "5")
        assert refused.content.decode() == "The database is busy or away. Try again in a moment."
        assert answer(client, assignment, grade="0", key=key).status_code == 503
    assert not Answer.objects.exists()
    for _ in range(2):
        assert answer(client, assignment, grade="0", key=key, **BY_SCRIPT).status_code == 204
    assert Answer.objects.count() == 1


def test_while_another_process_keeps_the_lock_one_thread_waits_and_not_all(
    transactional_db, cast, assignment, impatient
):
    if connection.vendor != "sqlite":
        pytest.skip("of SQLite, which has one writer")
    client = patient_client(cast, "worker")
    with locked():
        assert answer(client, assignment, grade="0").status_code == 503
        impatient(600)  # who waited for this now would be missed by the test, too
        assert answer(client, assignment, grade="0").status_code == 503
    assert answer(client, assignment, grade="0", **BY_SCRIPT).status_code == 204


def test_log_in_that_meets_a_lock_is_not_taken_for_many_wrong_ones(
    transactional_db, cast, impatient
):
    if connection.vendor != "sqlite":
        pytest.skip("of SQLite, which locks all tables at once")
    client = patient_client(cast, "stranger")
    sent = {"username": "wil", "password": "pass-word-1"}
    with locked():
        refused = client.post("/login/", sent)
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
    assert client.post("/login/", sent).status_code == 302


@pytest.mark.parametrize(
    ("path", "kind"), [("/work/", "text/html"), ("/api/v1/datasets/", "application/json")]
)
def test_database_that_is_away_is_said(transactional_db, cast, away, path, kind):
    client = patient_client(cast, "researcher")
    away()
    response = client.get(path)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response["Content-Type"].startswith(kind)
    assert "he database is busy" in response.content.decode()


@pytest.fixture
def full_disk(monkeypatch):
    """full_disk(): SQLite has no page left, for tables that exist or come."""

    def fill():
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE filler (body BLOB)")
            cursor.execute("PRAGMA max_page_count = 1")  # SQLite takes the size that it has
            with suppress(DatabaseError):
                while True:
                    cursor.execute("INSERT INTO filler VALUES (zeroblob(2000))")

    yield fill
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 4294967294")
            cursor.execute("DROP TABLE IF EXISTS filler")


def test_full_disk_is_named_on_pages_and_to_scripts(transactional_db, cast, assignment, full_disk):
    if connection.vendor != "sqlite":
        pytest.skip("of SQLite; the code of PostgreSQL is tested below")
    client = patient_client(cast, "worker")
    full_disk()
    quotes = REPORT.split()
    for n in range(60):  # pages in use have room for a few
        more = {"grade": "1", "quotes": quotes[n % 2 :]}
        response = answer(client, assignment, **more, **BY_SCRIPT)
        if response.status_code == 503:
            break
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.content.decode().startswith("The disk of the server is full")
    page = answer(client, assignment, **more)
    assert page.status_code == 503
    assert "stay in this browser" in page.content.decode()
    assert "busy" not in page.content.decode()


def test_full_disk_of_postgresql_is_known_by_its_code(db):
    if connection.vendor != "postgresql":
        pytest.skip("of PostgreSQL")
    statement = "DO $$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$"
    with pytest.raises(DatabaseError) as raised, connection.cursor() as cursor:
        cursor.execute(statement)
    assert is_disk_full(raised.value)
    assert is_transient(raised.value)
    assert not is_disk_full(None)


def test_missing_table_is_not_transient(db):
    with pytest.raises(DatabaseError) as raised, connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM nowhere")
    assert not is_transient(raised.value)
    assert not is_transient(ValueError())
    assert not is_transient(None)


def test_pooler_without_the_switch_is_transient():
    """A pooler may come between a running site and its database."""
    assert is_transient(UndeclaredPoolerError())
