"""/healthz/: the health check for monitoring."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from judging.engine import runs
from judging.engine.selection import Selection
from judging.tasks import JUDGING
from tests.toolbox.judging_study import a_judge, make_study

URL = "/healthz/"


def test_all_is_well(cast):
    for client in (Client(), cast.client("worker")):
        response = client.get(URL)
        assert response.status_code == 200
        assert response.json() == {"database": "ok", "workers": "not needed"}
        assert "no-store" in response["Cache-Control"]
    assert Client().head(URL).status_code == 200
    assert Client().post(URL).status_code == 405


def test_health_check_needs_no_session(db):
    response = Client().get(URL)
    assert not response.cookies
    assert "Vary" not in response
    assert not Session.objects.exists()


def test_health_check_ignores_host_name(db, settings):
    settings.ALLOWED_HOSTS = ["crux.example.org"]
    assert Client().get(URL, HTTP_HOST="10.0.0.7:8000").status_code == 200
    assert Client().get("/login/", HTTP_HOST="10.0.0.7:8000").status_code == 400


def test_run_that_no_worker_takes_up_is_told(db):
    run = runs.start(a_judge(), make_study(), Selection())
    JUDGING.wake(run)
    assert Client().get(URL).json()["workers"] == "at work"  # one may be about to take it
    DBTaskResult.objects.update(enqueued_at=timezone.now() - timedelta(minutes=5))
    response = Client().get(URL)
    assert (response.status_code, response.json()["workers"]) == (200, "missing")


@pytest.mark.django_db(transaction=True)
def test_database_that_is_away_is_told_without_its_secrets():
    settings = connection.settings_dict
    client = Client()
    client.cookies["sessionid"] = "somebody"
    connection.close()
    before = settings["NAME"]
    settings["NAME"] = "/nowhere/at/all" if connection.vendor == "sqlite" else "nowhere_at_all"
    try:
        response = client.get(URL)
    finally:
        settings["NAME"] = before
    assert response.status_code == 503
    assert response.json() == {"database": "unavailable", "workers": "unknown"}
    assert "nowhere" not in response.content.decode()
    assert Client().get(URL).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_database_without_tables_is_told():
    with connection.cursor() as cursor:
        cursor.execute("alter table judging_judgerun rename to elsewhere")
    try:
        assert Client().get(URL).status_code == 503
    finally:
        with connection.cursor() as cursor:
            cursor.execute("alter table elsewhere rename to judging_judgerun")
