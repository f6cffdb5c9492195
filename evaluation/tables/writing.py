"""Writing files into a folder that may hold others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into `folder`, which is made if it is not there; others in it stay.

    All are written beside their places first, so that a full disk leaves the old ones as they
    were; each then takes its place in one step. Raises OSError where that cannot be done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tables-", dir=folder) as waiting:
        for name, content in files.items():
            Path(waiting, name).write_bytes(content)
        for name in files:
            os.replace(Path(waiting, name), folder / name)
