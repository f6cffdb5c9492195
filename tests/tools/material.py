"""The Python of the annotation tools, and what their own code says of a file."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

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


def told(reader: str, *paths: Path) -> Any:
    """What one of the functions of `readers.py` prints of these files."""
    return json.loads(run(Path(__file__).with_name("readers.py"), reader, *paths))
