"""Management commands that a page starts in a process of their own, one at a time.

A file lock says whether one is at work: the process inherits it, and loses it when it ends or is killed.
"""

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings


@contextmanager
def try_lock(path: Path) -> Iterator[int | None]:
    """Lock a file for the body, and for processes that it starts.

    The descriptor of the file is None if it is locked already.
    """
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield file.fileno()


def is_locked(path: Path) -> bool:
    with try_lock(path) as lock:
        return lock is None


def start_command(lock: int, *arguments: str, stdout: IO[bytes] | int = subprocess.DEVNULL) -> None:
    """Start `manage.py` with these arguments in a process that keeps the lock until it ends."""
    subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-u", str(settings.BASE_DIR / "manage.py"), *arguments],
        cwd=settings.BASE_DIR,
        pass_fds=[lock],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        start_new_session=True,  # Ctrl-C at the server's terminal is not meant for it
    )
