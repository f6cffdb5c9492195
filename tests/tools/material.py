"""The Python of the annotation tools, run on files."""

import os
import subprocess
from pathlib import Path

PYTHON = os.environ.get("TOOLS_PYTHON", "")  # make test-tools names it


def run(*arguments: str | Path) -> str:
    """What the tools' Python prints. Raises AssertionError with what it says where it fails."""
    done = subprocess.run(
        [PYTHON, *map(str, arguments)],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout


def told_by(script: str, *paths: Path) -> str:
    """What one of the scripts beside this prints of these files."""
    return run(Path(__file__).with_name(script), *paths)
