"""What the project says of itself, in the files that other programs read: each agrees with the rest."""

import re
import tomllib

import pytest
import yaml

from tests.browser.site import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()
HOOKS = ROOT / ".pre-commit-config.yaml"
FILES = [HOOKS, *(path for path in sorted((ROOT / ".github").rglob("*")) if path.is_file())]


def test_the_version_is_that_of_the_newest_release_of_the_changelog():
    releases = re.findall(
        r"^## (\d\S*) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    version, day = releases[0]
    assert version == PROJECT["version"] == CITATION["version"]
    assert day == CITATION["date-released"].isoformat()


def test_the_licence_is_the_one_that_is_there():
    assert PROJECT["license"] == CITATION["license"] == "Apache-2.0"
    (file,) = PROJECT["license-files"]
    assert "Apache License\n                           Version 2.0" in (ROOT / file).read_text()


def test_the_citation_has_what_its_format_asks_for():
    for field in ("cff-version", "message", "title", "authors"):
        assert CITATION[field]
    assert CITATION["cff-version"] == "1.2.0"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_the_files_of_the_forge_name_is_there(path):
    text = path.read_text()
    if path.suffix != ".md":
        assert yaml.safe_load(text)
    for target in re.findall(r"(?:`|run: )make ([a-z-]+)", text):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for named in re.findall(r"`([\w./-]+(?:\.\w+|/))`", text):
        assert (ROOT / named).exists(), named


def test_a_hook_says_what_make_lint_says():
    (ours,) = yaml.safe_load(HOOKS.read_text())["repos"]
    for hook in ours["hooks"]:
        command = hook["entry"].replace(".venv/bin/", "$(BIN)/").removesuffix(" --force-exclude")
        assert f"\t{command} " in MAKEFILE.replace("\n", " \n"), command
