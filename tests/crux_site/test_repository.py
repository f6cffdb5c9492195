"""The root of the repository has the listed files alone, and no leftovers."""

import shutil
import subprocess

import pytest

from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.paths import ROOT

FOLDERS = {*OUR_APPS, ".ci", ".github", "bench", "client", "docs", "fixtures", "locale"}
FOLDERS |= {"static", "templates", "tests"}
FILES = {
    *(".dockerignore", ".editorconfig", ".gitignore", ".oxlintrc.json", ".pre-commit-config.yaml"),
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"),
    *("Dockerfile", "Makefile", "common.mk", "compose.yaml", "manage.py"),
    *("biome.json", "pyproject.toml", "uv.lock"),
}


def tracked_files() -> list[str]:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout with git")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listed.stdout.rstrip("\0").split("\0")


def test_root_of_the_repository_has_no_stray_file():
    assert {path.split("/")[0] for path in tracked_files()} == FOLDERS | FILES


def test_built_packages_are_untracked():
    assert not [path for path in tracked_files() if path.endswith((".whl", ".egg", ".pyc"))]
