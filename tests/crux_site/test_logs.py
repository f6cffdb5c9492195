"""Log lines: time, level, process, logger and message; a database error is one line."""

import logging
import os
import re
import sys

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from crux_site.logs import OneLineFormatter
from tests.toolbox.commands import run_python

HEAD = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} ERROR %s django\.request: "


def written(error):
    try:
        raise error
    except (OperationalError, ValueError):
        exc_info = sys.exc_info()
    record = logging.LogRecord(
        "django.request",
        logging.ERROR,
        __file__,
        1,
        "Internal Server Error: %s",
        ("/x/",),
        exc_info,
    )
    return OneLineFormatter().format(record)


def test_database_that_is_away_is_one_line():
    line = written(OperationalError("connection failed:\n\tIs the server running?\n"))
    assert re.fullmatch(
        HEAD % os.getpid()
        + "Internal Server Error: /x/: connection failed: Is the server running\\?",
        line,
    )


def test_mistake_of_ours_has_its_trace():
    first, *trace = written(ValueError("odd")).splitlines()
    assert re.fullmatch(HEAD % os.getpid() + "Internal Server Error: /x/", first)
    assert trace[0].startswith("Traceback")
    assert trace[-1] == "ValueError: odd"


def test_site_logs_in_this_form():
    assert settings.LOGGING["handlers"]["console"]["formatter"] == "line"


@pytest.mark.soak
def test_command_says_in_a_line_that_the_database_is_away(tmp_path):
    ended = run_python(
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
def test_lock_timeout_is_set():
    with connection.cursor() as cursor:
        cursor.execute("show lock_timeout")
        assert cursor.fetchone() == ("20s",)
