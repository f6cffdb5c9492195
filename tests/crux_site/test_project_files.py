"""Project files read by other programs (metadata, forge): they agree with each other."""

import re
import shutil
import subprocess
import tomllib

import pytest
import yaml

from tests import package_map
from tests.toolbox.documentation import PAGES
from tests.toolbox.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()
HOOKS = ROOT / ".pre-commit-config.yaml"
FILES = [HOOKS, *(path for path in sorted((ROOT / ".github").rglob("*")) if path.is_file())]
WORKFLOW = ROOT / ".github/workflows/test.yml"
TEXTS = [*FILES, *(ROOT / page for page in PAGES)]
# In code, or as a step of a workflow.
MAKE = re.compile(r"(?:`|run: |^    )make ((?:-C [\w/]+ )?[a-z][a-z-]*)(?=[ `]|$)", re.MULTILINE)


def test_version_is_that_of_the_newest_release_of_the_changelog():
    releases = re.findall(
        r"^## (\d\S*) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    version, day = releases[0]
    assert version == PROJECT["version"] == CITATION["version"]
    assert day == CITATION["date-released"].isoformat()


def test_licence_is_the_one_that_is_there():
    assert PROJECT["license"] == CITATION["license"] == "Apache-2.0"
    (file,) = PROJECT["license-files"]
    assert "Apache License\n                           Version 2.0" in (ROOT / file).read_text()


def test_citation_has_what_its_format_asks_for():
    for field in ("cff-version", "message", "title", "authors"):
        assert CITATION[field]
    assert CITATION["cff-version"] == "1.2.0"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_paths_in_forge_files_exist(path):
    text = path.read_text()
    if path.suffix != ".md":
        assert yaml.safe_load(text)
    for name in re.findall(r"`([\w./-]+(?:\.\w+|/))`", text):
        assert (ROOT / name).exists(), name


def test_hook_says_what_make_lint_says():
    (ours,) = yaml.safe_load(HOOKS.read_text())["repos"]
    for hook in ours["hooks"]:
        if hook.get("stages") == ["commit-msg"]:  # make lint has no message to look at
            continue
        command = hook["entry"].replace(".venv/bin/", "$(BIN)/").removesuffix(" --force-exclude")
        assert f"\t{command} " in MAKEFILE.replace("\n", " \n"), command


def dry_run(*arguments: str) -> subprocess.CompletedProcess:
    """Run make without executing the recipes: it fails for unknown targets."""
    if not shutil.which("make"):
        pytest.skip("there is no make on this machine")
    command = ["make", "--dry-run", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_make_targets_in_docs_and_workflows_exist():
    mentions = {target for path in TEXTS for target in MAKE.findall(path.read_text())}
    assert {"demo", "test", "test-vllm", "lint-css", "bench-judge"} <= mentions
    elsewhere = {target for target in mentions if target.startswith("-C ")}
    for targets in [sorted(mentions - elsewhere), *map(str.split, sorted(elsewhere))]:
        run = dry_run(*targets)
        assert run.returncode == 0, run.stderr


def test_local_checks_run_the_make_targets_of_the_workflow():
    commands = re.findall(r"^make (\S+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert commands
    assert set(commands) <= set(MAKE.findall(WORKFLOW.read_text()))


def test_make_help_lists_at_most_twelve_targets():
    listed = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)
    assert {"demo", "test"} <= set(listed)
    assert len(listed) < 12  # `help` itself is in common.mk


def test_map_of_packages_is_current():
    """As `python -m tests.package_map` writes it."""
    text = package_map.PAGE.read_text()
    assert package_map.with_map(text) == text
    assert [folder for folder, summary in package_map.packages() if not summary] == []
