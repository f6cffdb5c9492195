"""A served site for whoever knows it by its API alone."""

import pytest

from bench.serving import Server
from tests.toolbox.api_seed import seed
from tests.toolbox.judging_study import environment


@pytest.fixture
def served(transactional_db, tmp_path):
    """The address of a site with the demo study."""
    seed()
    server = Server(environment(VAR_DIR=str(tmp_path)), workers=1, ready="/healthz/")
    try:
        server.start()
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.kill()
