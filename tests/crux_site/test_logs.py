"""The log: a line says when, how bad, which process, where, and what; a database's trouble is one line."""

import logging
import os
import re
import sys

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from crux_site.logs import Line
from tests.crux_site.test_environment import start

HEAD = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} ERROR %s django\.request: "


def written(error):
    try:
        raise error
    except (OperationalError, ValueError):
        told = sys.exc_info()
    record = logging.LogRecord(
        "django.request", logging.ERROR, __file__, 1, "Internal Server Error: %s", ("/x/",), told
    )
    return Line().format(record)


def test_a_database_that_is_away_is_one_line():
    line = written(OperationalError("connection failed:\n\tIs the server running?\n"))
    assert re.fullmatch(
        HEAD % os.getpid()
        + "Internal Server Error: /x/: connection failed: Is the server running\\?",
        line,
    )


def test_a_mistake_of_ours_has_its_trace():
    first, *trace = written(ValueError("odd")).splitlines()
    assert re.fullmatch(HEAD % os.getpid() + "Internal Server Error: /x/", first)
    assert trace[0].startswith("Traceback")
    assert trace[-1] == "ValueError: odd"


def test_the_site_logs_in_this_form():
    assert settings.LOGGING["handlers"]["console"]["formatter"] == "line"


@pytest.mark.soak
def test_a_command_says_in_a_line_that_the_database_is_away(tmp_path):
    ended = start(
        "manage.py",
        "expire_leases",
        VAR_DIR=str(tmp_path),
        DATABASE_URL="postgres://crux:secret@127.0.0.1:1/crux",
    )
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("The database cannot be used: connection failed")
    assert "secret" not in line


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has a timeout of its own")
def test_nobody_waits_for_a_lock_for_ever():
    with connection.cursor() as cursor:
        cursor.execute("show lock_timeout")
        assert cursor.fetchone() == ("20s",)
