"""An empty site for workers in processes of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.serving import PG_URL, ROOT, database

LEASE = "8"  # seconds: the shards of the dead are soon free


def postgres_is_there() -> bool:
    try:
        psycopg.connect(os.environ.get("PG_URL", PG_URL), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def empty_site(folder: Path, kind: str = "") -> Iterator[tuple[dict[str, str], object]]:
    """Return an empty, migrated database: (environment, query).

    It is of a kind; else PostgreSQL if it answers.
    """
    kind = kind or ("postgres" if postgres_is_there() else "sqlite")
    with database(kind, folder, f"crux_vllm_{os.getpid()}") as (address, rows):
        env = os.environ | {
            "DATABASE_URL": address,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
            "JUDGE_LEASE_SECONDS": LEASE,
        }
        manage(env, "migrate", "-v0")
        yield env, rows


def manage(env: dict[str, str], *arguments: str) -> str:
    """Return the output of a manage.py command."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=env,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout
