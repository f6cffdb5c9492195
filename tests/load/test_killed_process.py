"""Server as docs/deploy starts it: the site survives a killed worker process."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from bench.ports import free_port
from bench.serving import ROOT
from tests.toolbox.clock import HANGS, wait_for

pytestmark = pytest.mark.timing
UNIT = ROOT / "docs" / "deploy" / "crux.service"


def command_of(unit, port):
    """Return the command of the unit, in this environment and at another port."""
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    arguments = shlex.split(line.replace("--port 8000", f"--port {port}"))
    return [str(Path(sys.executable).with_name(Path(arguments[0]).name)), *arguments[1:]]


def workers_of(process):
    """Return the serving processes: the children of the first one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(pid) for pid in children.split()]


def answers(port):
    try:
        url = f"http://127.0.0.1:{port}/healthz/"
        return urllib.request.urlopen(url, timeout=HANGS).status == 200
    except OSError:
        return False


@pytest.fixture
def server(tmp_path, migrated_database):
    shutil.copyfile(migrated_database, tmp_path / "crux.sqlite3")
    database = {"VAR_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/crux.sqlite3"}
    env = os.environ | database
    port = free_port()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command_of(UNIT, port),
            env=env,
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for(lambda: answers(port))
        yield process, port
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(HANGS)


def test_site_survives_a_killed_process(server):
    process, port = server
    wait_for(lambda: len(workers_of(process)) == 2)
    killed, survivor = workers_of(process)
    os.kill(killed, signal.SIGKILL)
    # The killed process may have had a connection: a second request is answered.
    wait_for(lambda: answers(port))
    wait_for(lambda: len(set(workers_of(process)) - {killed}) == 2)
    assert survivor in workers_of(process)
    wait_for(lambda: all(answers(port) for _ in range(20)))
    assert process.poll() is None
