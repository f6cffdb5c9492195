"""Packages that a site does without, and the sentence of a command that does not."""

import tomllib
from pathlib import Path

import pytest

from manage import EXTRAS
from tests.toolbox.commands import run_without_packages
from tests.toolbox.training_lines import LINES, as_file

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.soak
@pytest.mark.parametrize(
    ("package", "command", "sentence"),
    [
        (
            "pyarrow",
            "manage.py judge_export mill --judge any --out away",
            "This command needs pyarrow, an extra: make env EXTRAS=cluster",
        ),
        (
            "pyarrow",
            "manage.py judge_import mill away",
            "This command needs pyarrow, an extra: make env EXTRAS=cluster",
        ),
        (
            "crowdkit",
            "manage.py aggregate mill --method mace",
            "This command needs crowdkit, an extra: make env EXTRAS=aggregation",
        ),
        (
            "matplotlib",
            "manage.py tables mill --out away",
            "This command needs matplotlib, an extra: make env EXTRAS=figures",
        ),
        (
            "pyarrow",
            "judging/offline/cluster.py away --out back",
            "judging.offline.cluster needs pyarrow: pip install pyarrow into an environment of its own "
            "(docs/fleet.md), or make env EXTRAS=cluster for that of the site",
        ),
    ],
    ids=["export", "import", "aggregate", "tables", "cluster"],
)
def test_command_says_in_one_sentence_which_extra_it_lacks(package, command, sentence, tmp_path):
    ended = run_without_packages(package, command, tmp_path)
    assert (ended.returncode, ended.stderr) == (1, f"{sentence}\n")


@pytest.mark.soak
def test_file_is_read_before_a_training_says_what_it_lacks(tmp_path):
    command = f"manage.py finetune {as_file(tmp_path, LINES)} --model any --out {tmp_path}/out"
    ended = run_without_packages("torch", command, tmp_path)
    sentence = "This command needs torch, an extra: make env EXTRAS=finetune\n"
    assert (ended.returncode, ended.stderr) == (1, sentence)
    assert not (tmp_path / "out").exists()


@pytest.mark.soak
def test_any_other_missing_package_is_a_mistake_with_its_trace(tmp_path):
    ended = run_without_packages("scipy", "manage.py check", tmp_path)
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr


@pytest.mark.soak
def test_site_needs_none_of_them(tmp_path):
    ended = run_without_packages(" ".join(EXTRAS), "manage.py check", tmp_path)
    assert ended.returncode == 0, ended.stderr


def test_extra_that_is_named_brings_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for package, extra in EXTRAS.items():
        assert any(
            requirement.replace("-", "").startswith(package)
            for requirement in project["optional-dependencies"][extra]
        )
        assert not any(requirement.startswith(package) for requirement in project["dependencies"])
