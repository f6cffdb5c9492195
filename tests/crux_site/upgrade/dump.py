"""Write SQL dumps of a database of this version, for upgrade tests of later versions.

    python -m tests.crux_site.upgrade.dump

Run it on the commit of a release, before its migrations are squashed. It needs `sqlite3`, `pg_dump` and a
PostgreSQL server at `PG_URL`. SQLite and PostgreSQL have a dump each, since their indexes and triggers differ.
"""

import lzma
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from bench.serving import ROOT, database

FOLDER = Path(__file__).parent
KINDS = ("sqlite", "postgresql")
SEED = """
import socket
import django
django.setup()
from django.core.management import call_command
from tests.crux_site.upgrade.seed import fill_every_table

socket.gethostname = lambda: "old-site"  # stored with the work of its processes
call_command("migrate", verbosity=0)
fill_every_table()
"""


def path_of_dump(version: str, kind: str) -> Path:
    return FOLDER / f"{version}.{kind}.sql.xz"


def dump(kind: str) -> str:
    """Return the SQL statements that create a filled database of this version."""
    with (
        tempfile.TemporaryDirectory() as folder,
        database(kind, Path(folder), f"crux_dump_{os.getpid()}") as (address, _),
    ):
        env = os.environ | {"DATABASE_URL": address, "VAR_DIR": folder}
        env |= {"DJANGO_SETTINGS_MODULE": "crux_site.settings"}
        subprocess.run([sys.executable, "-c", SEED], env=env, cwd=ROOT, check=True)
        if kind == "sqlite":
            command = ["sqlite3", address.removeprefix("sqlite:///"), ".dump"]
        else:
            command = ["pg_dump", "--no-owner", "--no-privileges", "--inserts"]
            command += ["--rows-per-insert=200", address]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    # Commands that psql alone reads.
    return re.sub(r"^\\(un)?restrict .*\n", "", done.stdout, flags=re.MULTILINE)


if __name__ == "__main__":
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for kind in KINDS:
        packed = lzma.compress(dump(kind).encode(), preset=9 | lzma.PRESET_EXTREME)
        path = path_of_dump(version, kind)
        path.write_bytes(packed)
        print(f"{path.relative_to(ROOT)}: {len(packed):,} bytes")  # noqa: T201
