"""Files that the processes of the tests share: the first that needs one makes it for all.

`make test` runs pytest several times, and names one folder (RUN_FILES) for all of them.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.toolbox.paths import ROOT

IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ


def run_folder(base: Path) -> Path:
    """Return the folder of shared files; `base` is the temporary folder of this process."""
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
        manage(os.environ | {"VAR_DIR": var, "DATABASE_URL": f"sqlite:///{path}"}, "migrate", "-v0")


def prepared_site(base: Path) -> Path:
    """Return the folder of a site without data, with tables and static files, to copy."""

    def prepare(folder: Path) -> None:
        folder.mkdir()
        shutil.copyfile(migrated_database(base), folder / "crux.sqlite3")
        manage(site_environment(folder), "collectstatic", "--no-input", "-v0")

    return made_once(run_folder(base) / "prepared", prepare)


def site_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a site whose data are in a folder."""
    return os.environ | {
        "VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'crux.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "PYTHONPATH": str(ROOT),
    }


def manage(env: dict[str, str], *arguments: str) -> None:
    """Run a command of manage.py in a process of its own."""
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    subprocess.run(command, env=env, check=True, cwd=ROOT)
