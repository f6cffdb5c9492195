"""manage.py doctor: check what a site needs, and say what to do."""

from __future__ import annotations

import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Q

from annotation.management.base import SiteCommand
from annotation.models import User
from annotation.plurals import n_of
from crux_site.login import first_admin_token
from crux_site.port_check import port_problem
from judging.execution.background import Background

OLDEST_PYTHON = (3, 11)
DISK_GIGABYTES = 1.0
SERVER_SECONDS = 5.0


@dataclass(frozen=True)
class Check:
    """Result of a check. `remedy` says what to do; empty if nothing has to be done."""

    name: str
    result: str
    remedy: str = ""
    is_fatal: bool = True


class Command(SiteCommand):
    help = "Check Python, database, disk, port, workers and model servers, and say what to do."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", default="8000", help="port on which the site is to be served")

    def handle(self, *args: Any, **options: Any) -> None:
        checks = [*_checks(options["host"], options["port"])]
        for check in checks:
            sign = "ok  " if not check.remedy else "FAIL" if check.is_fatal else "note"
            self.stdout.write(f"{sign}  {check.name}: {check.result}")
            if check.remedy:
                self.stdout.write(f"      {check.remedy}")
        n_failed = sum(bool(check.remedy) and check.is_fatal for check in checks)
        if n_failed:
            raise CommandError(f"{n_failed} of {len(checks)} checks failed.")


def _checks(host: str, port: str) -> Iterator[Check]:
    yield _python()
    yield _disk()
    database = _database()
    yield database
    if not database.remedy:
        yield from _rows()
    yield _port(host, port)
    yield from map(_endpoint, sorted(settings.JUDGE_ENDPOINTS.items()))


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    is_old = sys.version_info[:2] < OLDEST_PYTHON
    return Check("Python", version, "Install Python 3.11 or newer." if is_old else "")


def _disk() -> Check:
    free = shutil.disk_usage(settings.VAR_DIR).free / 1e9
    remedy = "" if free >= DISK_GIGABYTES else "Free at least 1 GB, or take another data folder."
    return Check("Data folder", f"{settings.VAR_DIR}, {free:.1f} GB free", remedy)


def _database() -> Check:
    name = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[connection.vendor]
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        reason = " ".join(str(error).split())
        return Check("Database", f"{name}, {reason}", "Start it, or correct DATABASE_URL.")
    if plan:
        return Check("Database", f"{name}, {len(plan)} migrations to apply", "Run: migrate")
    return Check("Database", f"{name}, up to date")


def _rows() -> Iterator[Check]:
    """Yield checks of what the database says of accounts and waiting runs."""
    admins = User.objects.filter(Q(role=User.Role.ADMIN) | Q(is_superuser=True), is_active=True)
    has_admin = admins.exists()
    if first_admin_token.is_site_empty():
        remedy = "Run: first_admin, and open the address that it prints"
        yield Check("Admin", "there is no account yet", remedy)
    else:
        result = "there is one" if has_admin else "no admin can log in"
        yield Check("Admin", result, "" if has_admin else "Run: createsuperuser")
    waiting = [run for runs in Background.registered for run in runs.waiting()]
    remedy = "Run: worker (or judge_worker)" if waiting else ""
    result = (
        f"waiting for a worker: {n_of(len(waiting), 'run')}"
        if waiting
        else "no run waits for a worker"
    )
    yield Check("Workers", result, remedy, is_fatal=False)


def _port(host: str, port: str) -> Check:
    problem = port_problem(host, port)
    remedy = "If the site does not serve there itself, take another --port." if problem else ""
    return Check("Port", problem or f"{port} of {host} is free", remedy, is_fatal=False)


def _endpoint(endpoint: tuple[str, str]) -> Check:
    """Return whether the servers of an endpoint answer. A refused key is an answer."""
    name, urls = endpoint
    problems = [problem for url in urls.split("|") if (problem := _problem_of(url))]
    remedy = "Start the server, or correct JUDGE_ENDPOINTS." if problems else ""
    return Check(f"Model server {name}", "; ".join(problems) or "answers", remedy, is_fatal=False)


def _problem_of(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        return f"{url} is no http or https address"
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/models", timeout=SERVER_SECONDS):  # noqa: S310
            return ""
    except urllib.error.HTTPError:
        return ""
    except (OSError, ValueError) as error:
        return f"{url} does not answer: {getattr(error, 'reason', error)}"
