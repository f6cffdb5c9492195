"""manage.py serve as a process: what it serves, how it ends, and ports that are taken."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.core.management import CommandError, call_command

from bench.ports import free_port
from crux_site.management.commands.serve import with_mock_model
from tests.toolbox.clock import HANGS, wait_for_server

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.any_database


def environment(folder: Path) -> dict[str, str]:
    url = f"sqlite:///{folder / 'crux.sqlite3'}"
    return os.environ | {"VAR_DIR": str(folder), "DATABASE_URL": url, "JUDGE_ENDPOINTS": ""}


def manage(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=HANGS,
    )


@contextmanager
def serving(folder: Path, *arguments: str):
    """Run the command in a session of its own, so that leftovers are ended, too."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", *arguments],
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def members(session: int) -> list[str]:
    """Return the command lines of the session's processes."""
    listed = subprocess.run(
        ["ps", "-o", "args=", "--sid", str(session)], capture_output=True, text=True, check=False
    )
    return listed.stdout.splitlines()


@pytest.mark.parametrize(
    ("endpoints", "expected"),
    [
        ("", "stand-in=http://127.0.0.1:8801/v1"),
        ("lab=http://lab/v1", "lab=http://lab/v1 stand-in=http://127.0.0.1:8801/v1"),
        ("stand-in=http://lab/v1", "stand-in=http://lab/v1"),
    ],
)
def test_mock_model_is_a_server_beside_those_of_the_environment(endpoints, expected):
    assert with_mock_model(endpoints, "8801") == expected


@pytest.mark.timing
@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_site_worker_and_mock_model_end_together(tmp_path, migrated_database, number):
    shutil.copyfile(migrated_database, tmp_path / "crux.sqlite3")
    port, model_port = str(free_port()), str(free_port())
    with serving(tmp_path, "--demo", "--port", port, "--model-port", model_port) as process:
        wait_for_server(f"http://127.0.0.1:{port}/healthz/")
        wait_for_server(f"http://127.0.0.1:{model_port}/v1/models")
        with urlopen(f"http://127.0.0.1:{port}/login/", timeout=HANGS) as page:
            content = page.read().decode()
        assert "<h1>First admin</h1>" in content
        assert any("judge_worker" in line for line in members(process.pid))
        process.send_signal(number)
        output, _ = process.communicate(timeout=HANGS)
        assert process.returncode == 0, output
        assert f"Crux workbench   http://127.0.0.1:{port}/" in output
        address = manage(tmp_path, "first_admin", "--site", f"http://127.0.0.1:{port}").stdout
        assert f"first admin      {address}" in output
        assert "Traceback" not in output
        assert members(process.pid) == []


def test_database_without_tables_is_refused(tmp_path):
    done = manage(tmp_path, "serve", "--port", str(free_port()))
    assert done.returncode == 1
    assert "Not started: no such table: annotation_user. Run migrate" in done.stderr
    assert "Traceback" not in done.stderr


def test_taken_port_is_refused_before_anything_is_made(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        done = manage(tmp_path, "serve", "--demo", "--fill", "--port", port)
    assert done.returncode == 1
    assert f"port {port} of 127.0.0.1 is taken" in done.stderr
    assert "take another port with --port NUMBER" in done.stderr
    assert not (tmp_path / "crux.sqlite3").exists()


@pytest.mark.django_db
def test_unwritable_static_files_are_refused_with_their_folder(tmp_path, settings):
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.touch()
    with pytest.raises(CommandError, match=rf"Not started: static files .*{tmp_path}"):
        call_command("serve", port=str(free_port()), no_worker=True)


@pytest.mark.parametrize("port", ["http", "0", "65536"])
def test_invalid_port_is_refused(port):
    with pytest.raises(CommandError, match="is no port"):
        call_command("serve", port=port)
