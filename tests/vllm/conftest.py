"""Fixtures: one tiny model and one real vLLM server for all tests here.

They need the environment that `make test-vllm` builds, and are skipped, aloud, in `make test`.
"""

from pathlib import Path

import pytest

from tests.toolbox.empty_site import empty_site
from tests.vllm.server import VllmServer, make_model


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("vllm") / "tiny"
    make_model(folder)
    return folder


@pytest.fixture(scope="session")
def server(tiny_model):
    """A server that answers. A test that kills it starts it again."""
    running = VllmServer(tiny_model, tiny_model.parent / "vllm.log")
    running.start()
    yield running
    running.kill()


@pytest.fixture
def site(tmp_path):
    with empty_site(tmp_path) as empty:
        yield empty
