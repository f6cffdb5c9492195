"""Small collections that once gave wrong results, in folders beside the repository."""

import os
from pathlib import Path

import pytest

DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "cases"
FOLDER = Path(os.environ.get("CRUX_CASES", DEFAULT_FOLDER))


def case(name: str) -> Path:
    """Return the folder of a case; skip the test with a message if it is missing."""
    folder = FOLDER / name
    if not folder.is_dir():
        pytest.skip(
            f"THE CASE {name} IS NOT CHECKED: nothing at {folder}; CRUX_CASES says where it is"
        )
    return folder
