"""PgBouncer in transaction mode, in a process of its own."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bench.ports import free_port

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
START_SECONDS = 30


@contextmanager
def pooler(server: str, folder: Path, size: int = 4, **settings: str) -> Iterator[str]:
    """Run PgBouncer in front of a PostgreSQL server; yield its URL, for the same database.

    server: URL of a database. size: connections to each database of the server. settings:
    further settings of PgBouncer, by name.
    """
    parts = urlsplit(server)
    port = free_port()
    target = {"host": parts.hostname, "port": parts.port or 5432, "user": parts.username}
    if parts.password:
        target["password"] = unquote(parts.password)
    options = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": size,
        "max_client_conn": 500,
        "log_connections": 0,
        "log_disconnections": 0,
    } | settings
    path = folder / "pgbouncer.ini"
    entries = " ".join(f"{name}='{value}'" for name, value in target.items())
    lines = ["[databases]", f"* = {entries}", "[pgbouncer]"]
    lines += [f"{name} = {value}" for name, value in options.items()]
    path.write_text("\n".join(lines) + "\n")
    # It refuses to run as root, and reads its file before it becomes another user.
    user = ["--user", "nobody"] if os.getuid() == 0 else []
    with (folder / "pgbouncer.log").open("wb") as log:
        process = subprocess.Popen([PGBOUNCER, *user, path], stdout=log, stderr=log)
    try:
        _wait_for(port, process)
        yield f"postgres://{parts.username}@127.0.0.1:{port}{parts.path}"
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _wait_for(port: int, process: subprocess.Popen) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("PgBouncer did not start") from None
            time.sleep(0.05)
        else:
            return
