"""One tiny model and one real vLLM server for all tests here.

They need the environment that `make test-vllm` builds, and are skipped, aloud, in `make test`.
"""

from pathlib import Path

import pytest

from tests.vllm.server import PYTHON, VllmServer, make_model
from tests.vllm.site import empty_site

HERE = f"{Path(__file__).parent}/"  # as words: every test of all is asked, and a path is slow to answer


def pytest_collection_modifyitems(items):
    if PYTHON:
        return
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.skip(reason="a vLLM server: `make test-vllm` runs it"))


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
