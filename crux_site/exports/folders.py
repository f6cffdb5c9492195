"""Folders of a dataset by the names of their formats, and such a folder as one file to download."""

import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from annotation.formats.writing import ExportError, zip_entry
from annotation.models import Dataset
from crux_site.datasets.export import ExportSummary, export_folder
from crux_site.exports.publication import Stated, export_publication

Writer = Callable[[Path], object]


def _crux(dataset: Dataset, out: Path, stated: Stated) -> ExportSummary:
    return export_folder(dataset, out)


def _hugging_face(dataset: Dataset, out: Path, stated: Stated) -> ExportSummary:
    from crux_site.exports.hugging_face import export_hugging_face  # noqa: PLC0415 - pyarrow

    return export_hugging_face(dataset, out, stated)


FOLDERS: Mapping[str, Callable[[Dataset, Path, Stated], ExportSummary]] = {
    "crux": _crux,
    "publication": export_publication,
    "hugging-face": _hugging_face,
}


def one_file(write: Writer, name: str) -> BinaryIO:
    """What `write` makes at a path of this name, open to be read; a folder as an archive that holds it.

    It is whole before its first byte is sent, lies on disk, and is gone once it is closed. Raises ExportError
    where there was nothing to write.
    """
    with TemporaryDirectory() as place:
        made = Path(place) / name
        write(made)
        if not made.exists():
            raise ExportError("it would be empty")
        if made.is_dir():
            made = zipped(made, Path(place) / "archive.zip")
        return made.open("rb")


def zipped(folder: Path, archive: Path) -> Path:
    """Write a folder, with itself on top, as an archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zip_entry(path.relative_to(folder.parent).as_posix())
            with path.open("rb") as source, written.open(entry, "w", force_zip64=True) as file:
                shutil.copyfileobj(source, file)
    return archive
