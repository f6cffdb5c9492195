"""Small collections that once gave wrong results, in folders beside the repository."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "cases"
FOLDER = Path(os.environ.get("CRUX_CASES", BESIDE))


def case(name: str) -> Path:
    """The folder of a case; the test is skipped, and says so, where it is missing."""
    folder = FOLDER / name
    if not folder.is_dir():
        pytest.skip(
            f"THE CASE {name} IS NOT CHECKED: nothing at {folder}; CRUX_CASES says where it is"
        )
    return folder
