"""Schemathesis against a served site: whatever is sent, every answer is one that the schema tells of."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.serving import Server
from tests.api.seed import ADMIN, seed
from tests.clock import HANGS
from tests.judging.engine.material import environment

CONFIG = Path(__file__).parent / "schemathesis.toml"


@pytest.fixture
def address(transactional_db, tmp_path):
    """Of a server on the database of this test, without the static files that only pages need."""
    seed()
    known = {"API_PER_MINUTE": "1000000", "JUDGE_ENDPOINTS": "local=http://127.0.0.1:9/v1"}
    env = environment(VAR_DIR=str(tmp_path), **known)
    server = Server(env, workers=1, ready="/healthz/")
    try:
        server.start()
        yield f"http://127.0.0.1:{server.port}/api/v1"
    finally:
        server.kill()


@pytest.mark.soak
def test_whatever_is_sent_is_answered_as_the_schema_says(address, tmp_path):
    ran = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(CONFIG), "run", f"{address}/schema/"),
            *("--header", f"Authorization: Token {ADMIN}"),
        ],
        cwd=tmp_path,  # what it keeps of its runs lies there
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
