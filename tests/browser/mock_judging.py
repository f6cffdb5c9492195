"""Site whose only model server is the mock model, and a worker of its judge runs."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.toolbox.mock_server import slow_server
from tests.toolbox.paths import ROOT
from tests.toolbox.served_site import Site, served

PATIENT = 180_000  # milliseconds: a worker is a process that has to start


@contextmanager
def served_with_mock_model(folder: Path, seed: str, prepared: Path) -> Iterator[Site]:
    """Serve a site in a new folder, filled by the code `seed`."""
    with slow_server(0, at_once=8) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_ENDPOINTS", f"mock={url}")
        with served(folder, seed, prepared=prepared) as running:
            yield running


@contextmanager
def worker(site: Site) -> Iterator[None]:
    command = [sys.executable, str(ROOT / "manage.py"), "judge_worker", "--interval", "0.2"]
    process = subprocess.Popen(command, env=site.env, cwd=ROOT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)
