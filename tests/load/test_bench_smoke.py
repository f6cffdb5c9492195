"""Benches: each has a smoke run, none leaves a server behind or passes without answers."""

import os
import re
import signal
import socket
import subprocess
import sys
from importlib import import_module

import pytest

from bench.campaign import Outcome
from bench.smoke import MODULES
from tests.toolbox.clock import wait_for
from tests.toolbox.paths import ROOT

# Starts a server as a bench does, prints its port, and waits.
SERVING = """
import os, time
from bench.serving import Server
server = Server(dict(os.environ), workers=1)
server.process = server._begin()  # its pages need a database, and its port none
print(server.port, flush=True)
time.sleep(600)
"""
# Starts a server of the kit's kind, with a fixed port of its own, and waits.
ISOLATING = """
import subprocess, sys, time
from bench.servers import isolate
class Adapter:
    host, port = "127.0.0.1", 18106
    def commands(self):
        return [([sys.executable, "-m", "http.server", "--bind", self.host, str(self.port)], {}, None)]
adapter = Adapter()
isolate(adapter)
[(command, _, _)] = adapter.commands()
subprocess.Popen(command, start_new_session=True)
print(adapter.port, flush=True)
time.sleep(600)
"""


def is_listening(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_each_bench_of_the_makefile_has_a_smoke_run():
    makefile = (ROOT / "bench" / "Makefile").read_text()
    benches = set(re.findall(r"(?:-m |from )bench\.(\w+)", makefile)) - {"smoke"}
    assert benches <= set(MODULES)
    for name in MODULES:
        assert callable(import_module(f"bench.{name}").smoke)


def test_campaign_without_an_acknowledged_answer_fails():
    fields = {"figures": {}, "restarts": [], "cores": {}, "failures": {}}
    for acknowledged in (0, 1):
        totals = {"answers acknowledged": acknowledged}
        outcome = Outcome(database="sqlite", totals=totals, violations={"lost": 0}, **fields)
        assert outcome.holds == bool(acknowledged)


@pytest.mark.timing
@pytest.mark.parametrize("code", [SERVING, ISOLATING], ids=["server", "server of the kit"])
def test_killed_bench_leaves_no_server(code, tmp_path):
    env = os.environ | {
        "VAR_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'crux.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout
        port = int(bench.stdout.readline())
        assert port != 18106
        wait_for(lambda: is_listening(port))
        bench.send_signal(signal.SIGKILL)
    wait_for(lambda: not is_listening(port))
