"""An upload on its way in: its files, what was found in them, and who is at work on it.

All of it is in a folder of the upload's own, where every process of the server sees it:

    files/         what was uploaded, archives unpacked; removed once it is imported
    about.json     what the form said
    progress.json  whether this is an import, the file that is being read, and how far
    result.json    what a look found or an import did; absent while neither has come to its end
    lock           locked by the process that is at work
"""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings

from annotation.formats.left_out import Repeated
from annotation.formats.new_words import Choice
from annotation.formats.run_order import RunOrder
from annotation.models import Project, User
from crux_site.imports.importing import CRUX, ImportFailed, import_dataset
from crux_site.imports.unpacking import unpack

STAGING = Path(settings.MEDIA_ROOT) / "imports"
KEPT_SECONDS = 24 * 60 * 60
_TELL_SECONDS = 0.5
_ABOUT = (
    "dataset", "title", "project", "by", "with_history", "format", "lenient", "new_words", "repeated",
    "replaces", "run_order",
)  # fmt: skip


class Upload:
    """An upload that is there. Reading it begins nothing and changes nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = UUID(folder.name)
        self.about: dict[str, Any] = json.loads((folder / "about.json").read_text())

    @property
    def is_at_work(self) -> bool:
        """Whether a process looks at it or imports it. A process that was killed has lost the lock."""
        with (self.folder / "lock").open("a") as lock:
            return not _is_taken_by_us(lock.fileno())

    @property
    def progress(self) -> dict[str, Any]:
        return _read(self.folder / "progress.json")

    @property
    def result(self) -> dict[str, Any]:
        """`stores`, and either `summary` or `problems`; empty where nothing has come to its end."""
        return _read(self.folder / "result.json")

    def start(self, *, stores: bool = False) -> bool:
        """Look at it, or import it, in a process of its own; False where one is at work already.

        A large study takes longer than a request may, and than the server's threads can be spared.
        """
        with (self.folder / "lock").open("a") as lock:
            if not _is_taken_by_us(lock.fileno()):
                return False
            (self.folder / "result.json").unlink(missing_ok=True)
            _write(self.folder / "progress.json", {"stores": stores})
            manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "import_upload"]
            subprocess.Popen(  # noqa: S603 - our own command, and a folder that we named
                [*manage, str(self.folder), *(["--store"] if stores else [])],
                cwd=settings.BASE_DIR,
                pass_fds=[lock.fileno()],  # its copy keeps the lock, for as long as it lives
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C at the server's terminal is not meant for it
            )
        return True

    def read(self, *, stores: bool = False) -> None:
        """What that process does."""
        outcome: dict[str, Any]
        try:
            summary = import_dataset(
                self.folder / "files",
                self.about["dataset"],
                title=self.about["title"],
                project=Project.objects.get(slug=self.about["project"]),
                by=User.objects.filter(pk=self.about["by"]).first(),
                with_history=self.about["with_history"],
                form=self.about.get("format") or CRUX,
                lenient=bool(self.about.get("lenient")),
                new_words=self.about.get("new_words") or Choice.REFUSE,
                replaces=self.about.get("replaces", ""),
                run_order=self.about.get("run_order") or RunOrder.AUTO,
                repeated=self.about.get("repeated") or Repeated.LEAVE_OUT,
                dry_run=not stores,
                progress=_Teller(self.folder / "progress.json", stores),
            )
        except ImportFailed as failed:
            outcome = {"problems": [problem.as_dict() for problem in failed.problems]}
        else:
            outcome = {"summary": summary.as_dict()}
        _write(self.folder / "result.json", {"stores": stores, **outcome})
        if stores and "summary" in outcome:
            shutil.rmtree(self.folder / "files")


def stage(data: dict[str, Any]) -> Upload:
    """Put what a form brought into a folder of its own.

    Raises UploadRefused; whatever it raises, it leaves nothing.
    """
    _forget_old_uploads()
    folder = STAGING / str(uuid4())
    (folder / "files").mkdir(parents=True)
    try:
        unpack(data["files"], folder / "files")
        _write(
            folder / "about.json",
            {name: data.get(name, "") for name in _ABOUT},
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Upload(folder)


def upload_of(token: UUID) -> Upload | None:
    folder = STAGING / str(token)
    return Upload(folder) if (folder / "about.json").is_file() else None


class _Teller:
    """Writes down how far the reading is, now and then."""

    def __init__(self, path: Path, stores: bool) -> None:
        self.path = path
        self.stores = stores
        self.told = 0.0

    def __call__(self, file: str, lines: int) -> None:
        if time.monotonic() - self.told > _TELL_SECONDS:
            self.told = time.monotonic()
            _write(self.path, {"stores": self.stores, "file": file, "lines": lines})


def _is_taken_by_us(file: int) -> bool:
    """Whether the lock was free: it is ours then, until the last copy of the open file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(path: Path, value: dict[str, Any]) -> None:
    """Whole or not at all, for others read meanwhile."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value))
    os.replace(draft, path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    return content


def _forget_old_uploads() -> None:
    """Remove what nobody has touched for a day."""
    for folder in STAGING.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # another upload has removed it
            if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
