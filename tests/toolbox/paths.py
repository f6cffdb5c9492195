"""Folders and files of the repository."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"


def tracked(*patterns: str) -> list[str]:
    """Return the matching paths of the repository, with new files and without ignored ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted({path for path in listed.stdout.splitlines() if (ROOT / path).exists()})
