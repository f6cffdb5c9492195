"""Schemathesis against a served site: whatever is sent, every answer is one that the schema tells of."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from tests.api.seed import ADMIN
from tests.browser.site import served

SEED = "from tests.api.seed import seed; seed()"
OWN_DATABASE = "crux_random_requests"
CONFIG = Path(__file__).parent / "schemathesis.toml"


@pytest.fixture(scope="module")
def database_url():
    """Of a database for this server alone, of the kind that the tests run on."""
    if connection.vendor == "sqlite":
        yield ""
        return
    base, _, _ = os.environ["DATABASE_URL"].rpartition("/")
    with psycopg.connect(f"{base}/postgres", autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {OWN_DATABASE} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {OWN_DATABASE}")
        yield f"{base}/{OWN_DATABASE}"
        server.execute(f"DROP DATABASE {OWN_DATABASE} WITH (FORCE)")


@pytest.fixture(scope="module")
def site(tmp_path_factory, database_url):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("API_PER_MINUTE", "1000000")
        patch.setenv("JUDGE_ENDPOINTS", "local=http://127.0.0.1:9/v1")
        with served(tmp_path_factory.mktemp("site"), SEED, database_url) as running:
            yield running


@pytest.mark.soak
@pytest.mark.database  # one of its own, of the same kind
def test_whatever_is_sent_is_answered_as_the_schema_says(site, tmp_path):
    ran = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(CONFIG), "run", f"{site.url}/api/v1/schema/"),
            *("--header", f"Authorization: Token {ADMIN}"),
        ],
        cwd=tmp_path,  # what it keeps of its runs lies there
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
