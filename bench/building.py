"""Benchmark of building a collection: database writes against bare inserts.

    python -m bench.building            # or make bench-building; --documents 20000 --databases sqlite

Stores a run of 50 topics to rank 100 and plans a generation run of many documents. After each, in turn,
a loop inserts rows with the same values by one `executemany`. Each part has a process and a new database of
its own. Read the ratios.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.serving import ROOT, database

NAME = "crux_bench_building"
DOCUMENTS = 100_000
MOST_OF_STORING, LEAST_OF_PLANNING = 2.0, 0.5


def storing(kind: str) -> bool:
    seconds = _run_in_process(kind, "storing()")
    ratio = seconds["here"] / seconds["bare"]
    print(
        f"{kind}: a run of 50 topics x 100 stored in {1e3 * seconds['here']:.0f} ms, bare "
        f"{1e3 * seconds['bare']:.0f} ms: {ratio:.2f} times (at most {MOST_OF_STORING})"
    )
    return ratio <= MOST_OF_STORING


def planning(kind: str, n: int) -> bool:
    seconds = _run_in_process(kind, f"planning({n})")
    ratio = seconds["bare"] / seconds["here"]
    print(
        f"{kind}: {n:,} orders planned at {n / seconds['here']:,.0f}/s, bare {n / seconds['bare']:,.0f}/s: "
        f"{ratio:.2f} of it (at least {LEAST_OF_PLANNING})"
    )
    return ratio >= LEAST_OF_PLANNING


def measure_worker(url: str, n: int, concurrency: int) -> dict[str, float]:
    """Measure a whole worker on SQLite; see building_parts.writing."""
    return _run_in_process("sqlite", f"writing({url!r}, {n}, {concurrency})")


def _run_in_process(kind: str, call: str) -> dict[str, Any]:
    """Run one part in a separate process, with a database of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="crux-bench-") as folder,
        database(kind, Path(folder), NAME) as (url, _),
    ):
        env = os.environ | {
            "VAR_DIR": folder,
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
            "PYTHONPATH": str(ROOT),
        }
        code = f"import json; from bench import building_parts as p; print(json.dumps(p.{call}))"
        command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
        process = subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    figures: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return figures


def smoke() -> str:
    """Store a run, and plan 20 documents, both ways on SQLite; see bench.smoke."""
    _run_in_process("sqlite", "storing(1)")  # its parts compare the rows
    _run_in_process("sqlite", "planning(20, 1)")
    return "a run of 5,000 texts stored and 20 orders planned, as by the bare inserts"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--databases", default="sqlite,postgres")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    options = parser.parse_args()
    goals_met = True
    for kind in options.databases.split(","):
        goals_met = storing(kind) and goals_met
        goals_met = planning(kind, options.documents) and goals_met
    if not goals_met:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
