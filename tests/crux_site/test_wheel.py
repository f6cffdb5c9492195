"""The wheel in an empty environment: the command `crux`, from an empty folder."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from bench.ports import free_port
from tests.toolbox.clock import HANGS, wait_for_server
from tests.toolbox.paths import ROOT
from tests.toolbox.wheels import (
    build_wheel,
    clean_environ,
    find_python,
    install,
    make_environment,
    needs_uv,
    run,
)

OTHER_PYTHON = "3.13"  # the newest; the usual one is the oldest, 3.11
TABLE = (
    "qid,question,passage,rater,grade\n"
    "m1,What drives the mill?,The stream drives the wheel.,anna,5\n"
    "m1,What drives the mill?,The stream drives the wheel.,ben,4\n"
    "m1,What drives the mill?,The miller sells flour.,anna,0\n"
    "m1,What drives the mill?,The miller sells flour.,ben,1\n"
)

pytestmark = [pytest.mark.any_database, pytest.mark.soak, needs_uv]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Install the wheel alone, and return the folder of its programs."""
    programs = make_environment(tmp_path_factory.mktemp("environment") / "env")
    install(programs, wheel)
    return programs


@pytest.fixture
def crux(installed, tmp_path):
    (tmp_path / "work").mkdir()
    return partial(run_crux, installed, tmp_path)


def run_crux(programs: Path, folder: Path, *arguments: str, program=run, **options):
    """Run `crux` from an empty folder, without the settings of this process."""
    env = clean_environ("VAR_DIR", "DATABASE_URL", "DJANGO_SETTINGS_MODULE", "CRUX_DATA")
    line = [programs / "crux", "--data", folder / "data", *arguments]
    return program(*line, cwd=folder / "work", env=env, **options)


def test_help_names_the_data_folder(crux, installed, tmp_path):
    env = os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}
    done = run(installed / "crux", env=env)
    assert done.returncode == 0
    assert f"{tmp_path / 'share'}/crux-workbench/site" in done.stdout
    assert run(installed / "crux-workbench", "--data", env=env).stderr == (
        "crux: --data needs a folder.\n"
    )


def test_table_is_imported_into_a_new_site(crux, tmp_path):
    (tmp_path / "work" / "grades.csv").write_text(TABLE)
    missing = crux("doctor", "--port", str(free_port()))
    assert missing.returncode == 1
    assert "Run: migrate" in missing.stdout
    assert crux("migrate", "--verbosity", "0").returncode == 0
    done = crux("import", "grades.csv", "--dataset", "mill", "--set", "rubric=graded")
    assert done.returncode == 0, done.stderr
    assert f"Data folder: {tmp_path / 'data'}" in done.stderr
    assert "4  ratings" in done.stdout
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["grades.csv"]


def test_demo_is_served_with_its_static_files_and_docs(crux, tmp_path):
    check_demo(crux)
    assert list((tmp_path / "work").iterdir()) == []


def test_demo_is_served_on_the_newest_python(wheel, tmp_path):
    if sys.version_info[:2] == tuple(map(int, OTHER_PYTHON.split("."))):
        pytest.skip(f"this is Python {OTHER_PYTHON}: the test above")
    if "ONE_PYTHON" in os.environ:
        pytest.skip("NOT RUN: ONE_PYTHON is set")
    if not (python := find_python(OTHER_PYTHON)):
        pytest.skip(f"NOT RUN: there is no Python {OTHER_PYTHON} here")
    programs = make_environment(tmp_path / "env", python)
    install(programs, wheel)
    (tmp_path / "work").mkdir()
    check_demo(partial(run_crux, programs, tmp_path))


def check_demo(crux) -> None:
    """Serve the demo, read a page and a static file of it, and stop it with Ctrl-C."""
    port, model_port = str(free_port()), str(free_port())

    def start(*line, **options):
        return subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
        )

    process = crux("demo", "--port", port, "--model-port", model_port, program=start)
    try:
        wait_for_server(f"http://127.0.0.1:{port}/healthz/")
        with urlopen(f"http://127.0.0.1:{port}/login/", timeout=HANGS) as page:
            content = page.read().decode()
        icon = content.partition('rel="icon" href="')[2].partition('"')[0]
        with urlopen(f"http://127.0.0.1:{port}{icon}", timeout=HANGS) as file:
            assert b"<svg" in file.read()
    finally:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=HANGS)
    assert process.returncode == 0, output
    assert "password         crux-demo" in output
    # What a reader of the help gets, from the docs of the wheel.
    code = "from crux_site.help.docs import paths; print(len(paths()))"
    listed = crux("shell", "-v", "0", "-c", code)
    assert int(listed.stdout) > 20, listed.stderr
