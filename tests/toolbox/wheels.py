"""Wheels: build one with uv, and install it into an empty environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolbox.clock import HANGS
from tests.toolbox.paths import ROOT

UV = shutil.which("uv") or shutil.which(str(ROOT / ".uv" / "bin" / "uv"))
needs_uv = pytest.mark.skipif(not UV, reason="NOT BUILT: there is no uv here")


def run(*command: str | Path, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=HANGS, check=False, **options
    )


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project below a folder."""
    built = run(UV, "build", "--wheel", "--out-dir", folder / "dist", cwd=project)
    assert built.returncode == 0, built.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def make_environment(folder: Path, python: str | Path = sys.executable) -> Path:
    """Create an empty environment, and return the folder of its programs."""
    created = run(UV, "venv", "--python", python, folder)
    assert created.returncode == 0, created.stderr
    return folder / "bin"


def install(programs: Path, requirement: str | Path) -> None:
    """Install a requirement into an environment, from the package index or uv's cache."""
    installed = run(UV, "pip", "install", "--python", programs / "python", requirement)
    assert installed.returncode == 0, installed.stderr


def clean_environ(*names: str) -> dict[str, str]:
    """Return the environment of this process without these variables, and without PYTHONPATH."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", *names)}


def find_python(version: str) -> Path | None:
    """Return an interpreter of a version: this one, one on PATH, or one of pyenv."""
    pyenv = Path.home() / ".pyenv" / "versions"
    on_path = shutil.which(f"python{version}")
    candidates = [sys.executable, on_path, *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    show = "import sys; print('%d.%d' % sys.version_info[:2])"
    for python in filter(None, candidates):
        # A shim of pyenv is on PATH also where its version is not selected.
        if run(python, "-I", "-c", show).stdout.strip() == version:
            return Path(python)
    return None
