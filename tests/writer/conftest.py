"""A real server of a small real model for all tests here.

They need the environment that `make test-writer` builds, and are skipped, aloud, in `make test`.
"""

import pytest

from tests.writer import at_work
from tests.writer.server import LlamaServer


def pytest_terminal_summary(terminalreporter, config):
    """Print the evidence of the runs, beyond the assertions."""
    lines = config.stash.get(at_work.TABLE, [])
    if lines:
        terminalreporter.section("what the writer wrote")
    for line in lines:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = LlamaServer(tmp_path_factory.mktemp("writer") / "server.log")
    running.start()
    yield running
    running.kill()
