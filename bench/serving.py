"""Real server that can be killed, on a database of its own."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from bench.pooler import pooler
from bench.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
PG_URL = "postgres://postgres@127.0.0.1:5432/postgres"
START_SECONDS = 300  # of a server on a busy machine
# A server gets SIGTERM when the bench ends, also by SIGKILL (PR_SET_PDEATHSIG of Linux).
UNTIL_PARENT_ENDS = ("setpriv", "--pdeathsig", "TERM")


# In one process, so that the site is loaded once.
PREPARE = """
from django.conf import settings
from django.core.management import call_command
call_command("migrate", verbosity=0)
if not settings.STATIC_ROOT.exists():
    call_command("collectstatic", interactive=False, verbosity=0)
"""


def new_sqlite(path: Path) -> str:
    """Return the URL of a new SQLite file.

    If BENCH_PREPARED names the folder of a site, the file is a copy of its database, with its static
    files beside it: bench.smoke prepares one site for all benches, which takes longer than their work.
    """
    if prepared := os.environ.get("BENCH_PREPARED"):
        shutil.copyfile(Path(prepared, "crux.sqlite3"), path)
        link_static_files(path.parent)
    return f"sqlite:///{path}"


def link_static_files(folder: Path) -> None:
    """Put the static files of the site that BENCH_PREPARED names, if any, into a folder."""
    prepared = os.environ.get("BENCH_PREPARED")
    if prepared and not (static := folder / "static").exists():
        static.symlink_to(Path(prepared, "static"))


class Server:
    """granian as the Makefile starts it, in a process group of its own.

    The server counts as started when `ready`, a path, answers.
    """

    def __init__(self, env: dict[str, str], workers: int = 2, ready: str = "/login/") -> None:
        self.workers, self.ready = workers, ready
        self.env = env | {"ARRIVALS_PER_MINUTE": "1000000"}  # the whole crowd has one address
        self.cpu = 0.0  # seconds, of those that were killed
        self.port = free_port()
        self.log = Path(env["VAR_DIR"], "server.log")
        self.process: subprocess.Popen | None = None

    def start(self) -> float:
        """Start the server and wait for its first response; return the seconds."""
        began = time.perf_counter()
        while time.perf_counter() < began + START_SECONDS:
            if self.process is None or self.process.poll() is not None:
                # A worker of the one before may have held the port for a moment longer.
                self.process = self._begin()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.ready}", timeout=20)
            except OSError:
                time.sleep(0.05)
            else:
                return time.perf_counter() - began
        raise RuntimeError(f"the server did not start; see {self.log}")

    def _begin(self) -> subprocess.Popen:
        granian = [str(Path(sys.executable).with_name("granian")), "--interface", "wsgi"]
        granian += ["--host", "127.0.0.1", "--port", str(self.port), "--workers", str(self.workers)]
        granian += ["--blocking-threads", "4", "--log-level", "warning"]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*UNTIL_PARENT_ENDS, *granian, "crux_site.wsgi:application"],
                env=self.env,
                cwd=ROOT,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Send SIGKILL to the whole process group, so that no process writes any more."""
        self.cpu += cpu_of(self.process.pid)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)


def cpu_of(group: int) -> float:
    """Return CPU seconds of a process group, from /proc; 0 if it has no processes."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def database(kind: str, folder: Path, name: str):
    """Create a database; yield its URL and a function from SQL to rows, without Django.

    kind: sqlite, postgres, or pooled: PostgreSQL behind PgBouncer, whose rows are read past it.
    """
    if kind == "sqlite":
        path = folder / "crux.sqlite3"
        url = new_sqlite(path)

        def rows(query):
            with closing(sqlite3.connect(path)) as connection:
                return connection.execute(query).fetchall()

        yield url, rows
        return
    link_static_files(folder)
    admin = os.environ.get("PG_URL", PG_URL)
    address = f"{admin.rpartition('/')[0]}/{name}"
    drop = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))

    def rows(query):
        with psycopg.connect(address) as connection:
            return connection.execute(query).fetchall()

    with psycopg.connect(admin, autocommit=True) as server:
        server.execute(drop)
        server.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            if kind == "pooled":
                with pooler(address, folder) as pooled_address:
                    yield pooled_address, rows
            else:
                yield address, rows
        finally:
            server.execute(drop)
