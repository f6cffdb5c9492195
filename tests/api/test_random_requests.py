"""Schemathesis against a live server: every response matches the schema."""

import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from bench.serving import Server
from tests.toolbox.api_seed import ADMIN, seed
from tests.toolbox.clock import HANGS
from tests.toolbox.judging_study import environment
from tests.toolbox.samples import ALL_CASES

CONFIG = Path(__file__).parent / "schemathesis.toml"


@pytest.fixture
def address(transactional_db, tmp_path):
    """Return the URL of a live server on this test's database.

    It has no static files, which only pages need.
    """
    seed()
    schema_paths = {"API_PER_MINUTE": "1000000", "JUDGE_ENDPOINTS": "local=http://127.0.0.1:9/v1"}
    env = environment(VAR_DIR=str(tmp_path), **schema_paths)
    server = Server(env, workers=1, ready="/healthz/")
    try:
        server.start()
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.kill()


@pytest.mark.soak
def test_random_requests_get_responses_of_the_schema(address, tmp_path):
    # Read here: Schemathesis waits for it ten seconds at most.
    key = {"Authorization": f"Token {ADMIN}"}
    with urlopen(Request(f"{address}/api/v1/schema/", headers=key), timeout=HANGS) as schema:
        (tmp_path / "schema.yaml").write_bytes(schema.read())
    ran = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(CONFIG), "run", "schema.yaml", "--url", address),
            *("--request-timeout", "60"),
            *("--header", f"Authorization: Token {ADMIN}"),
            *("--max-examples", "20" if ALL_CASES else "2"),
        ],
        cwd=tmp_path,  # what it keeps of its runs lies there
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
