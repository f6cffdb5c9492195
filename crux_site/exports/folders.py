"""Folder export formats of a dataset by name, and zipping such a folder."""

import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from annotation.formats.writing import ExportError, zip_entry
from annotation.models import Dataset
from crux_site.datasets.export import ExportSummary, export_folder
from crux_site.exports.publication import PublicationMetadata, export_publication

Writer = Callable[[Path], object]


def _crux(dataset: Dataset, out: Path, metadata: PublicationMetadata) -> ExportSummary:
    return export_folder(dataset, out)


def _hugging_face(dataset: Dataset, out: Path, metadata: PublicationMetadata) -> ExportSummary:
    from crux_site.exports.hugging_face import export_hugging_face  # noqa: PLC0415 - pyarrow

    return export_hugging_face(dataset, out, metadata)


FOLDERS: Mapping[str, Callable[[Dataset, Path, PublicationMetadata], ExportSummary]] = {
    "crux": _crux,
    "publication": export_publication,
    "hugging-face": _hugging_face,
}


def export_to_file(write: Writer, name: str) -> BinaryIO:
    """Return the output of `write` as an open file; a folder becomes a zip archive.

    It is complete before its first byte is sent, lies on disk, and is deleted once it is closed. Raises
    ExportError if nothing was written.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        if not path.exists():
            raise ExportError("it would be empty")
        if path.is_dir():
            path = zipped(path, Path(folder) / "archive.zip")
        return path.open("rb")


def zipped(folder: Path, archive: Path) -> Path:
    """Write a folder, with itself on top, as an archive."""
    # So that nobody takes half a file for a whole one.
    part = archive.with_name(f"{archive.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as zip_file:
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                entry = zip_entry(path.relative_to(folder.parent).as_posix())
                with path.open("rb") as source, zip_file.open(entry, "w", force_zip64=True) as file:
                    shutil.copyfileobj(source, file)
        return part.replace(archive)
    finally:
        part.unlink(missing_ok=True)
