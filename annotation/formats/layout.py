"""Layout of a study's folder: recognition of files by name."""

import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from annotation.formats.content import (
    UNREADABLE,
    Content,
    content_of,
    is_called_run,
    keys_of_lines,
    run_name,
)
from annotation.formats.kinds import Kind, kinds_of
from annotation.formats.summary import DatasetImportError, Problem, SkippedFile
from annotation.formats.translation import Translation

# A rater's name ends at the first dot. The part between it and the endings names the system of
# the reports, where it is not the usual one: alice.human_eval.bm25.qlabels.jsonl
_RATER = r"(?P<rater>[^./]+)"
_SYSTEM = r"(?:\.(?P<system>[^/]+?))?"
_PATTERNS = {
    Kind.RUBRICS: r"rubrics\.jsonl",
    Kind.RATERS: r"raters\.jsonl",
    Kind.TOPICS: r"topics\.jsonl",
    Kind.SUBQUESTIONS: r"subquestions\.jsonl",
    Kind.PASSAGES: r"passages[^/]*(?<!\.conflicts)\.jsonl(?:\.gz)?",
    Kind.WHOLE_DOCUMENTS: r"documents[^/]*\.jsonl",
    Kind.REFERENCES: r"references\.jsonl",
    Kind.REPORTS_ANNOTATED: r"reports_annotated\.jsonl",
    Kind.REPORTS_ALL: r"reports_all\.(?P<system>[^/]+)\.jsonl",
    Kind.CITED: r"reports_cited\.jsonl",
    Kind.RUN: r"runs/(?P<system>[^/]+)\.run",
    # The authors' names, and those of the export page, where "qrels" alone means TREC's.
    Kind.QLABELS: rf"annotations/{_RATER}{_SYSTEM}\.(?:qlabels|t1-labels)\.jsonl",
    Kind.QRELS: rf"annotations/{_RATER}{_SYSTEM}\.(?:qrels|t2-labels)\.jsonl",
    Kind.HISTORY_QLABELS: rf"annotations/history/{_RATER}\.qlabels(?:\.[^/]+)?\.jsonl",
    Kind.HISTORY_QRELS: rf"annotations/history/{_RATER}\.qrels(?:\.[^/]+)?\.jsonl",
    Kind.JUDGEMENTS: rf"judgements/{_RATER}{_SYSTEM}\.judgements\.jsonl",
    Kind.REFERENCE: rf"judgements/{_RATER}\.reference\.jsonl",
    Kind.RATINGS: r"ratings[^/]*\.jsonl",
    Kind.COPIED_GRADES: r"copied_grades\.jsonl",
    Kind.EXPOSURES: r"exposures\.jsonl",
    Kind.SYSTEMS: r"systems\.jsonl",
    Kind.VALUES: r"values[^/]*\.jsonl",
    Kind.ORIGINS: r"origins\.jsonl",
    Kind.WRITERS: r"writers\.jsonl",
    Kind.WRITTEN: r"written\.jsonl",
    Kind.TEXT_HISTORY: r"text_history\.jsonl",
    Kind.NOTES: r"notes\.jsonl",
}
NAMES = ", ".join(kind.value for kind in Kind if kind not in (Kind.GRADES, Kind.ADDED_QUESTIONS))
NO_FILE = "no file that can be read"
_KNOWN_NAMES = (
    f"files are known by their names or lines: {NAMES}. Name another format, such as beir"
)
UNFINISHED = "UNFINISHED"
"""Name of a file that a folder has until its export has written all others."""
_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")
_PROJECT_FILE = "project.json"
_LOOKED_AT = 20  # files of a folder, for advice about unknown ones
_REGEXES = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_DOCUMENTS = re.compile(r"documents[^/]*")
HISTORY = (Kind.HISTORY_QLABELS, Kind.HISTORY_QRELS)
_FOLDERS = ("runs", "annotations", "judgements")
_LEFT_OUT = (
    (re.compile(r"raw/.*"), "copies as they were downloaded"),
    (re.compile(r"later_formats/.*"), "formats that are not read yet"),
    (re.compile(r"(.*/)?[^/]*\.conflicts\.jsonl"), "second opinions of a judge; the first counts"),
    (re.compile(r"expected_values\.json"), "results, not data"),
    (re.compile(r"(.*/)?README[^/]*|metadata\.json"), "a description"),
)


class NoFileError(DatasetImportError):
    """No file of a folder is known."""


@dataclass(frozen=True)
class Source:
    """A file to read, or a folder of passages. `system` is a run's name for a run.

    A file of another format has a translation, and may be the source of several kinds of rows: for
    all but the first, `again` is True. `leaves_out`: unsound rows are left out and listed, and the
    others read; otherwise they refuse the import.
    """

    path: Path
    name: str
    kind: Kind
    rater: str = ""
    system: str = ""
    rubric: str = ""
    translation: Translation | None = None
    again: bool = False
    leaves_out: bool = False

    @property
    def is_of_annotation_tool(self) -> bool:
        return self.translation is not None and self.translation.parts is not None


@dataclass
class RecognisedFiles:
    sources: list[Source] = field(default_factory=list)
    left_out: list[SkippedFile] = field(default_factory=list)

    def of(self, *kinds: Kind) -> list[Source]:
        return [source for source in self.sources if source.kind in kinds]


def recognise(path: Path, *, with_history: bool = False) -> RecognisedFiles:
    """Return the readable files of a folder, or the one file, sorted by name.

    Raises DatasetImportError if there is no such file, NoFileError if none has a known name.
    """
    try:
        if path.is_file():
            files = RecognisedFiles([source] if (source := _single(path)) else [])
        else:
            files = _folder(inner(path), with_history)
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise DatasetImportError([Problem(printable(str(path)), 0, "", message)]) from error
    if not files.sources:
        message = f"{NO_FILE}; {_other_command(path) or _KNOWN_NAMES}"
        raise NoFileError([Problem(printable(path.name), 0, "", message)])
    return files


def _other_command(path: Path) -> str:
    """Return the command or option that reads these files, for those of other kinds."""
    files = (
        [path]
        if path.is_file()
        else sorted(file for file in inner(path).rglob("*") if file.is_file())
    )
    if any(file.name == _PROJECT_FILE for file in files) or _has_project(path):
        return "this is the archive of a project: manage.py import_project reads it"
    if path.is_file() and path.suffix.lower() == ".zip":
        return "unpack this archive, and import its folder"
    if any(content_of(file) is Content.QRELS for file in files[:_LOOKED_AT]):
        return (
            "these are qrels of TREC: put them into a folder with their topics and runs, and import "
            "it in the format trec-rag"
        )
    if files and all(file.suffix.lower() in _TABLES for file in files):
        return "tables are read by the first form of the page Import, or manage.py import_table"
    return ""


def _has_project(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.split("/")[-1] == _PROJECT_FILE for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
        return False


def printable(name: str) -> str:
    """Return a file name that can be printed and stored, whatever its bytes."""
    return name.encode(errors="backslashreplace").decode()


def _in_folder(path: Path, full: str, name: str, *, flat: bool) -> Source | None:
    """Return a file's source by its name, else by its content."""
    source = _source(path, full, name) or (_flat(path) if flat else None)
    return source or by_content(path, name)


def by_content(path: Path, name: str) -> Source | None:
    """Return a file's source by its first lines; None if unknown, or the name is known.

    Raises DatasetImportError where they fit several kinds, or the name must tell more.
    """
    if _flat(path) or any(regex.fullmatch(name) for regex, _ in _LEFT_OUT):
        return None
    content = content_of(path)
    if content is Content.RUN or (content is Content.RANKS and is_called_run(name)):
        return Source(path, printable(name), Kind.RUN, system=run_name(path.name))
    if content is not Content.OTHER:
        return None
    try:
        kinds = kinds_of(keys_of_lines(path))
    except UNREADABLE:
        return None
    if len(kinds) == 1 and "<" not in kinds[0].value:
        return Source(path, printable(name), kinds[0])
    if kinds:
        *names, last = [kind.value for kind in kinds]
        choices = f"{', '.join(names)} or {last}" if names else last
        message = (
            f"its lines are those of {choices}, which its name must tell: rename it; "
            "in a folder raw/ it is not read"
        )
        raise DatasetImportError([Problem(printable(name), 0, "", message)])
    return None


def _single(path: Path) -> Source | None:
    if _DOCUMENTS.fullmatch(path.resolve().parent.name):
        return Source(path, printable(path.name), Kind.DOCUMENTS)
    return _flat(path) or by_content(path, path.name)


def _flat(path: Path) -> Source | None:
    """Return the source of a file outside its folder, by its name alone."""
    folders = ("", *(f"{folder}/" for folder in (*_FOLDERS, "annotations/history")))
    names = [f"{folder}{path.name}" for folder in folders]
    return next((s for name in names if (s := _source(path, name, path.name))), None)


def inner(path: Path) -> Path:
    """Return the folder, or the only folder inside it, as archives wrap one."""
    entries = [entry for entry in path.iterdir() if not entry.name.startswith((".", "__"))]
    if len(entries) == 1 and entries[0].is_dir():
        name = entries[0].name
        if name not in _FOLDERS and not _DOCUMENTS.fullmatch(name):
            return entries[0]
    return path


def _folder(root: Path, with_history: bool) -> RecognisedFiles:
    if (root / UNFINISHED).exists():
        message = "the export of this folder was stopped, and files are missing: export it again"
        raise DatasetImportError([Problem(printable(root.name), 0, "", message)])
    files = RecognisedFiles()
    # A folder of the layout may be given by itself: .../runs, .../documents_sample
    root_name = root.resolve().name
    prefix = {"history": "annotations/history/"}.get(
        root_name, f"{root_name}/" if root_name in _FOLDERS else ""
    )
    if _DOCUMENTS.fullmatch(root_name):
        return RecognisedFiles([Source(root, printable(root_name), Kind.DOCUMENTS)])
    counts: dict[tuple[str, str], int] = {}
    for path in _walk(root):
        name = path.relative_to(root).as_posix()
        flat = path.parent == root
        if path.is_dir():
            files.sources.append(Source(path, printable(name), Kind.DOCUMENTS))
        elif not (source := _in_folder(path, prefix + name, name, flat=flat)):
            reason = next(
                (reason for regex, reason in _LEFT_OUT if regex.fullmatch(name)), "unknown name"
            )
            _leave_out(counts, name, reason)
        elif source.kind in HISTORY and not with_history:
            _leave_out(counts, name, "earlier exports, read only if you choose so")
        else:
            files.sources.append(source)
    files.left_out = [
        SkippedFile(printable(name), n, reason) for (name, reason), n in counts.items()
    ]
    return files


def _walk(root: Path) -> Iterator[Path]:
    """Yield files sorted by name, and a folder of passages as one entry.

    Such a folder may hold millions of files.
    """
    for parent, folders, files in os.walk(root):
        folders.sort()
        if Path(parent) == root:
            for folder in [folder for folder in folders if _DOCUMENTS.fullmatch(folder)]:
                folders.remove(folder)
                yield root / folder
        yield from (path for name in sorted(files) if (path := Path(parent, name)).is_file())


def _leave_out(counts: dict[tuple[str, str], int], name: str, reason: str) -> None:
    """Count a file that is left out, under its folder if that is left out as a whole."""
    folder, slash, _ = name.rpartition("/")
    top = folder.partition("/")[0]
    if top in ("raw", "later_formats"):
        folder = top
    whole = slash and folder not in _FOLDERS
    key = (f"{folder}/" if whole else name, reason)
    counts[key] = counts.get(key, 0) + 1


def by_name(path: Path, name: str) -> Source | None:
    """Return the source of a file by its name within the folder, or None if unknown."""
    return _source(path, name, name)


def _source(path: Path, name: str, displayed_name: str) -> Source | None:
    for kind, regex in _REGEXES.items():
        if match := regex.fullmatch(name):
            parts = match.groupdict(default="")
            rater, system = parts.get("rater", ""), parts.get("system", "")
            return Source(path, printable(displayed_name), kind, rater=rater, system=system)
    return None
