"""PostgreSQL server with a streaming standby, both in processes and folders of their own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg

from bench.ports import free_port
from tests.toolbox.clock import wait_for

PROGRAMS = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "shared_buffers": "32MB",
}


@contextmanager
def primary_and_standby() -> Iterator[tuple[str, str]]:
    """Run both servers; yield the URLs of their one database."""
    with ExitStack() as stack:
        # PostgreSQL does not run as root, and pytest's folders are readable for their owner alone.
        folder = Path(tempfile.mkdtemp(prefix="crux-standby-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        primary, standby = folder / "primary", folder / "standby"
        _run("initdb", "-D", primary, "-A", "trust", "-U", "postgres", "--no-sync")
        port = stack.enter_context(_server(primary))
        address = f"host=127.0.0.1 port={port} user=postgres"
        _run("pg_basebackup", "-d", address, "-D", standby, "-R", "-c", "fast", "--no-sync")
        standby_port = stack.enter_context(_server(standby))
        yield _url(port), _url(standby_port)


def _url(port: int) -> str:
    return f"postgres://postgres@127.0.0.1:{port}/postgres"


def _user() -> dict:
    """Return whom Popen starts the programs as."""
    return {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}


def _run(program: str, *arguments: object) -> None:
    command = [str(PROGRAMS / program), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, cwd="/", **_user())


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    port = free_port()
    options = [f"--{name}={value}" for name, value in (_SETTINGS | {"port": port}).items()]
    process = subprocess.Popen(
        [str(PROGRAMS / "postgres"), "-D", str(folder), *options],
        stderr=subprocess.DEVNULL,
        cwd="/",
        **_user(),
    )

    def answers() -> bool:
        assert process.poll() is None, "PostgreSQL ended"
        with suppress(psycopg.OperationalError):
            psycopg.connect(_url(port)).close()
            return True
        return False

    try:
        wait_for(answers)
        yield port
    finally:
        process.send_signal(2)  # fast shutdown: it disconnects its clients
        process.wait(60)
