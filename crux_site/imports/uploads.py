"""Staged upload: its files, the result of the preview or import, and the process at work.

All of it is in a folder of the upload's own, where every process of the server sees it:

    files/         what was uploaded, archives unpacked; removed once it is imported
    about.json     what the form said
    columns.json   of tables: the mapping that a person chose, the fields of its page, or the preset
    progress.json  whether this is an import, the file that is being read, and how far
    result.json    what a preview or an import did, and a digest of what it read; absent until one has ended
    lock           locked by the process that is at work
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings

from annotation.formats.layout import printable
from annotation.formats.left_out_rows import Repeated
from annotation.formats.run_order import RunOrder
from annotation.formats.tables.files import SPREADSHEETS, TEXT, TableFile
from annotation.formats.tables.mapping import parse_mapping
from annotation.formats.text_edits import TextEditPolicy
from annotation.models import Project, User
from crux_site.background_command import is_locked, start_command, try_lock
from crux_site.imports.importing import CRUX, DatasetImportError, ImportSummary, import_dataset
from crux_site.imports.tables import import_tables
from crux_site.imports.unpacking import unpack

STAGING = Path(settings.MEDIA_ROOT) / "imports"
KEPT_SECONDS = 24 * 60 * 60
TABLE = "table"
_TABLE_ENDINGS = (*SPREADSHEETS, *TEXT, ".json", ".jsonl", ".ndjson", ".parquet")
_PROGRESS_SECONDS = 0.5
_ABOUT_FIELDS = (
    "kind", "dataset", "title", "project", "by", "with_history", "format", "lenient", "new_words",
    "repeated", "replaces", "run_order",
)  # fmt: skip


class Upload:
    """Staged upload in its folder; reading it changes nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = UUID(folder.name)
        self.about: dict[str, Any] = json.loads((folder / "about.json").read_text())

    @property
    def is_at_work(self) -> bool:
        """True if a process holds the lock; a killed process has lost it."""
        return is_locked(self.folder / "lock")

    @property
    def progress(self) -> dict[str, Any]:
        return _read(self.folder / "progress.json")

    @property
    def result(self) -> dict[str, Any]:
        """`stores`, `digest`, and `summary` or `problems`; empty while no process has ended.

        `is_new_preview` is true where an import was asked for, and something else had been previewed.
        """
        return _read(self.folder / "result.json")

    @property
    def columns(self) -> dict[str, Any]:
        """Choices of the columns page: `mapping` or `preset`, and the `draft` of its fields.

        A preset may have `constants`. Empty if nothing is chosen.
        """
        return _read(self.folder / "columns.json")

    @property
    def is_table(self) -> bool:
        """True if the files are read by a mapping of their columns."""
        return self.about.get("kind") == TABLE or bool(self.columns)

    @property
    def has_preview(self) -> bool:
        """True if a preview was started of what is chosen now."""
        return bool(self.result or self.progress)

    @property
    def has_files(self) -> bool:
        """False once they are imported."""
        return (self.folder / "files").is_dir()

    @property
    def table_files(self) -> list[TableFile]:
        """Files that may be tables, by their endings; all of them if a person says so."""
        files = table_files(self.folder / "files")
        if self.about.get("kind") == TABLE:
            return files
        return [file for file in files if file.ending in _TABLE_ENDINGS]

    def choose_columns(self, columns: dict[str, Any]) -> bool:
        """Write a mapping or preset, and forget an earlier preview; False if a process is at work."""
        with try_lock(self.folder / "lock") as lock:
            if lock is None:
                return False
            (self.folder / "result.json").unlink(missing_ok=True)
            (self.folder / "progress.json").unlink(missing_ok=True)
            _write(self.folder / "columns.json", columns)
        return True

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def digest(self) -> str:
        """Return a digest of all that an import depends on: form, mapping and files."""
        digest = hashlib.sha256()
        files = sorted(path for path in (self.folder / "files").rglob("*") if path.is_file())
        for path in (self.folder / "about.json", self.folder / "columns.json", *files):
            digest.update(f"{path.relative_to(self.folder)}\0".encode(errors="surrogateescape"))
            if path.is_file():
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def start(self, *, previewed: str = "") -> bool:
        """Start the preview or import in a subprocess; return False if one is running already.

        `previewed` is the digest of the preview that is to be imported; see `read`. A large study takes longer
        than a request may, and than the server's threads can be spared.
        """
        with try_lock(self.folder / "lock") as lock:
            if lock is None:
                return False
            (self.folder / "result.json").unlink(missing_ok=True)
            _write(self.folder / "progress.json", {"stores": bool(previewed)})
            store = ["--store", previewed] if previewed else []
            start_command(lock, "import_upload", str(self.folder), *store)
        return True

    def read(self, *, previewed: str = "") -> None:
        """Run the preview or the import, in the subprocess.

        It is an import only if `previewed` is the digest of what is read now. Otherwise, such as after
        another tab chose other columns, it is a preview again: nothing is imported that nobody saw.
        """
        outcome: dict[str, Any]
        digest = self.digest()
        stores = previewed == digest
        try:
            summary = self._read_tables(stores) if self.is_table else self._read_files(stores)
        except DatasetImportError as failed:
            outcome = {"problems": [problem.as_dict() for problem in failed.problems]}
        else:
            outcome = {"summary": summary.as_dict()}
        if previewed and not stores:
            outcome["is_new_preview"] = True
        _write(self.folder / "result.json", {"stores": stores, "digest": digest, **outcome})
        if stores and "summary" in outcome:
            shutil.rmtree(self.folder / "files")

    def _read_files(self, stores: bool) -> ImportSummary:
        return import_dataset(
            self.folder / "files",
            self.about["dataset"],
            with_history=self.about["with_history"],
            form=self.about.get("format") or CRUX,
            lenient=bool(self.about.get("lenient")),
            replaces=self.about.get("replaces", ""),
            run_order=self.about.get("run_order") or RunOrder.AUTO,
            repeated=self.about.get("repeated") or Repeated.LEAVE_OUT,
            **self._options(stores),
        )

    def _read_tables(self, stores: bool) -> ImportSummary:
        columns = self.columns
        mapping = columns.get("mapping")
        return import_tables(
            self.table_files,
            self.about["dataset"],
            mapping=parse_mapping(mapping) if mapping else None,
            preset=columns.get("preset", ""),
            constants=columns.get("constants"),
            **self._options(stores),
        )

    def _options(self, stores: bool) -> dict[str, Any]:
        return {
            "title": self.about["title"],
            "project": Project.objects.get(slug=self.about["project"]),
            "by": User.objects.filter(pk=self.about["by"]).first(),
            "new_words": self.about.get("new_words") or TextEditPolicy.REFUSE,
            "dry_run": not stores,
            "progress": _ProgressFile(self.folder / "progress.json", stores),
        }


def stage(data: dict[str, Any]) -> Upload:
    """Stage the files and fields of a form in a folder of their own.

    Raises UploadError; whatever it raises, it leaves nothing.
    """
    _remove_old_uploads()
    folder = STAGING / str(uuid4())
    (folder / "files").mkdir(parents=True)
    try:
        unpack(data["files"], folder / "files")
        _write(
            folder / "about.json",
            {name: data.get(name, "") for name in _ABOUT_FIELDS},
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Upload(folder)


def table_files(folder: Path) -> list[TableFile]:
    """Return all files of a folder, called by their paths in it."""
    return [
        TableFile(path, printable(path.relative_to(folder).as_posix()))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def upload_of(token: UUID) -> Upload | None:
    folder = STAGING / str(token)
    return Upload(folder) if (folder / "about.json").is_file() else None


class _ProgressFile:
    """Progress callback that writes the file and its lines to progress.json, throttled."""

    def __init__(self, path: Path, stores: bool) -> None:
        self.path = path
        self.stores = stores
        self.written_at = 0.0

    def __call__(self, file: str, lines: int) -> None:
        if time.monotonic() - self.written_at > _PROGRESS_SECONDS:
            self.written_at = time.monotonic()
            _write(self.path, {"stores": self.stores, "file": file, "lines": lines})


def _write(path: Path, value: dict[str, Any]) -> None:
    """Write JSON atomically, for others read it meanwhile."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value))
    os.replace(draft, path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    return content


def _remove_old_uploads() -> None:
    """Remove uploads that were not changed for a day."""
    for folder in STAGING.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # another upload has removed it
            if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
