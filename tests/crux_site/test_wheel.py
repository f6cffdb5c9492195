"""The wheel in an empty environment: the command `crux`, from an empty folder."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.toolbox.clock import HANGS, wait_for_server
from tests.toolbox.served_site import free_port

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv") or shutil.which(str(ROOT / ".uv" / "bin" / "uv"))
TABLE = (
    "qid,question,passage,rater,grade\n"
    "m1,What drives the mill?,The stream drives the wheel.,anna,5\n"
    "m1,What drives the mill?,The stream drives the wheel.,ben,4\n"
    "m1,What drives the mill?,The miller sells flour.,anna,0\n"
    "m1,What drives the mill?,The miller sells flour.,ben,1\n"
)

pytestmark = [
    pytest.mark.any_database,
    pytest.mark.soak,
    pytest.mark.skipif(not UV, reason="NOT BUILT: there is no uv here"),
]


def run(*command: str | Path, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=HANGS, check=False, **options
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Build the wheel, install it alone, and return the folder of its programs."""
    folder = tmp_path_factory.mktemp("wheel")
    built = run(UV, "build", "--wheel", "--out-dir", folder / "dist", cwd=ROOT)
    assert built.returncode == 0, built.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    assert run(UV, "venv", "--python", sys.executable, folder / "env").returncode == 0
    programs = folder / "env" / "bin"
    done = run(UV, "pip", "install", "--python", programs / "python", wheel)
    assert done.returncode == 0, done.stderr
    return programs


@pytest.fixture
def crux(installed, tmp_path):
    """Run `crux` from an empty folder, without the settings of this process."""
    variables = ("PYTHONPATH", "VAR_DIR", "DATABASE_URL", "DJANGO_SETTINGS_MODULE", "CRUX_DATA")
    env = {name: value for name, value in os.environ.items() if name not in variables}
    (tmp_path / "work").mkdir()

    def command(*arguments: str, program=run, **options):
        line = [installed / "crux", "--data", tmp_path / "data", *arguments]
        return program(*line, cwd=tmp_path / "work", env=env, **options)

    return command


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
