"""Files that the processes of the tests share: the first that needs one makes it for all.

`make test` runs pytest several times, and names one folder (RUN_FILES) for all of them.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.toolbox.paths import ROOT

IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ


def run_folder(base: Path) -> Path:
    """Return the folder of shared files: that of `make test`, else the one above `base`, a process's own."""
    if folder := os.environ.get("RUN_FILES"):
        return Path(folder)
    return base.parent if IS_WORKER else base


def made_once(path: Path, make: Callable[[Path], None]) -> Path:
    """Make a file or a folder under a file lock, unless another process has made it."""
    marker = path.with_suffix(".made")
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            make(path)
            marker.touch()
    return path


def migrated_database(base: Path) -> Path:
    """Return an SQLite file with all tables and no rows, to copy.

    To migrate takes five seconds of CPU time.
    """
    return made_once(run_folder(base) / "migrated.sqlite3", _migrate)


def _migrate(path: Path) -> None:
    with TemporaryDirectory() as var:
        env = os.environ | {"VAR_DIR": var, "DATABASE_URL": f"sqlite:///{path}"}
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "-v0"], env=env, cwd=ROOT, check=True
        )
