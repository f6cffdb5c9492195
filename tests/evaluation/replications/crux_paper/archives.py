"""Contents of folders and of .zip files, by name."""

import zipfile
from io import BytesIO
from pathlib import Path


def folder_contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def archive_members(response) -> dict[str, bytes]:
    """The files of a .zip by their names within its folder."""
    with zipfile.ZipFile(BytesIO(response.content)) as zipped:
        return {name.partition("/")[2]: zipped.read(name) for name in zipped.namelist()}
