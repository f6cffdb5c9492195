"""A port that is taken: nothing starts beside the server that is there."""

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from bench.ports import free_port
from crux_site.port_check import port_problem
from tests.toolbox.clock import HANGS, wait_for_server

ROOT = Path(__file__).parents[2]
APP = "def application(environ, start):\n    start('200 OK', [])\n    return [b'first']\n"


def read(port: int) -> bytes:
    with urlopen(f"http://127.0.0.1:{port}/", timeout=HANGS) as reply:
        return reply.read()


@contextmanager
def granian_at(port: int, folder: Path):
    """A real server, which shares its port with any other that would, as the site's own does."""
    (folder / "small_app.py").write_text(APP)
    command = [
        Path(sys.executable).with_name("granian"),
        "--interface",
        "wsgi",
        "--port",
        str(port),
    ]
    server = subprocess.Popen(
        [*command, "--log-level", "warning", "small_app:application"], cwd=folder
    )
    try:
        wait_for_server(f"http://127.0.0.1:{port}/")
        yield
    finally:
        server.terminate()
        server.wait(20)


def run(*command: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )


@pytest.mark.soak
def test_commands_refuse_a_used_port(tmp_path):
    used_port, unused_port = free_port(), free_port()
    with granian_at(used_port, tmp_path):
        check = run(sys.executable, "-m", "crux_site.port_check", f"PORT={used_port}")
        assert check.returncode == 1
        assert check.stderr == (
            f"Not started: port {used_port} of 127.0.0.1 is taken: stop what serves there, "
            "or take another port with PORT=NUMBER.\n"
        )
        # What would build the environment is left out, also where pyproject.toml is newer.
        stamps = {".venv/env.stamp", ".venv/extra-figures.stamp"}
        stamps |= {str(path.relative_to(ROOT)) for path in ROOT.glob(".venv/extra-*.stamp")}
        built = [argument for stamp in sorted(stamps) for argument in ("-o", stamp)]
        make = ("make", "--no-print-directory", *built, f"PY={sys.executable}")
        var = tmp_path / "var"
        for target, ports, name in (
            ("serve", (f"PORT={used_port}", f"STAND_IN_PORT={unused_port}"), "PORT"),
            ("serve", (f"PORT={unused_port}", f"STAND_IN_PORT={used_port}"), "STAND_IN_PORT"),
            ("demo", (f"PORT={used_port}", f"STAND_IN_PORT={unused_port}"), "PORT"),
        ):
            done = run(*make, target, *ports, VAR_DIR=str(var))
            assert done.returncode != 0
            assert f"or take another port with {name}=NUMBER." in done.stderr
            assert done.stdout == ""
        assert not var.exists()  # the database was not even looked for
        assert read(used_port) == b"first"


def test_stand_in_says_that_its_port_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        done = run(sys.executable, "-m", "judging.mock_model", "--port", port)
    assert done.returncode == 1
    assert done.stderr == (
        f"The stand-in cannot serve at port {port}: it is taken; --port names another.\n"
    )


def test_free_port_is_certified_over_in_silence():
    done = run(sys.executable, "-m", "crux_site.port_check", f"PORT={free_port()}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("port", ["", "http", "0", "65536", "-1", "８０"])
def test_invalid_port_is_refused(port):
    assert "is no port" in port_problem("127.0.0.1", port)


def test_address_of_another_machine_is_said():
    assert "cannot be used" in port_problem("192.0.2.1", "8000")
