"""The Python of the annotation tools, run on files."""

import os
import subprocess
from pathlib import Path

PYTHON = os.environ.get("TOOLS_PYTHON", "")  # make test-tools names it


def run(*arguments: str | Path) -> str:
    """Run the tools' Python; return its output. Raises AssertionError with its errors."""
    process = subprocess.run(
        [PYTHON, *map(str, arguments)],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-4_000:]
    return process.stdout


def run_script(script: str, *paths: Path) -> str:
    """Run one of the scripts in this folder on files; return its output."""
    return run(Path(__file__).with_name(script), *paths)
