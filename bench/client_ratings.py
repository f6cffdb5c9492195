"""Benchmark of the client's ratings: the Parquet file against the pages of JSON, in turn.

    make bench-client-ratings        # or python -m bench.client_ratings [--topics 64] [--databases sqlite]

One site with 1,008 ratings a topic (those of bench.large_results, every fifth with a span), served by one
process of granian. `ratings()` of the client reads all of them, in turn with and without pyarrow. Both
frames must be equal. CPU is that of the server. Goal: a tenth of the time. Exits with 1 if it is missed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "client"))

from pandas.testing import assert_frame_equal

from bench.serving import ROOT, Server, cpu_of, database
from crux_client import Site, frames

NAME = "crux_bench_client"
GOAL = 10.0
RATINGS = 1_008  # of a topic
CAN_READ_PARQUET = {"parquet": frames.can_read_parquet, "json": lambda: False}
SEED = """
from django.core.management import call_command
from django.db import connection
call_command("migrate", verbosity=0)
from annotation.models import ApiToken, NuggetSpan, Rating, User
from bench.large_results_material import USERNAME, make
make({topics}, 50)
NuggetSpan.objects.bulk_create(
    (
        NuggetSpan(rating_id=pk, position=0, start=0, end=9, quote=body[:9])
        for pk, body in Rating.objects.values_list("pk", "text__body").iterator()
        if pk % 5 == 0
    ),
    batch_size=5000,
)
# As an import does. Without it PostgreSQL took 31 s for the file, not 4.
connection.cursor().execute("analyze")
print(ApiToken.objects.make(User.objects.get(username=USERNAME), "bench"))
"""


def measure(server: Server, token: str, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Return the figures of each round: seconds, CPU of the server, MB received."""
    site = Site(f"http://127.0.0.1:{server.port}", token)
    received = _count_bytes(site)
    dataset = site.dataset("large")
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in CAN_READ_PARQUET}
    for _ in range(rounds):
        results = {}
        for name, check in CAN_READ_PARQUET.items():
            frames.can_read_parquet = check
            received.clear()
            cpu, began = cpu_of(server.process.pid), time.perf_counter()
            results[name] = dataset.ratings()
            figures[name].append(
                {
                    "s": time.perf_counter() - began,
                    "cpu": cpu_of(server.process.pid) - cpu,
                    "mb": sum(received) / 1e6,
                    "requests": len(received),
                    "ratings": len(results[name]),
                }
            )
        assert figures["parquet"][-1]["requests"] == 1, "the site or the client has no pyarrow"
        assert_frame_equal(results["parquet"], results["json"])
    return figures


def _count_bytes(site: Site) -> list[int]:
    """Return a list that gets the size of each response of a site."""
    sizes: list[int] = []

    def count(response: Any) -> None:
        sizes.append(len(response.read()))

    site._connection._http.event_hooks = {"response": [count]}
    return sizes


def memory_of(group: int) -> int:
    """Return the peak memory in MB of the largest process of a group."""
    peaks = [0]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group:
                peaks += map(int, re.findall(r"VmHWM:\s+(\d+)", (folder / "status").read_text()))
        except OSError:  # it has ended meanwhile
            continue
    return max(peaks) // 1024


def compare(kind: str, topics: int, rounds: int) -> float:
    """Print the figures of a database; return the ratio of the median seconds."""
    with (
        tempfile.TemporaryDirectory(prefix="crux-bench-") as folder,
        database(kind, Path(folder), NAME) as (url, _),
    ):
        env = os.environ | {
            "DATABASE_URL": url,
            "VAR_DIR": folder,
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
            "PYTHONPATH": str(ROOT),
            "API_PER_MINUTE": "1000000",
        }
        seed = [sys.executable, "manage.py", "shell", "-v0", "-c", SEED.format(topics=topics)]
        seeded = subprocess.run(
            seed, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        )
        server = Server(env, workers=1, ready="/healthz/")
        server.start()
        try:
            figures = measure(server, seeded.stdout.split()[-1], rounds)
            memory = memory_of(server.process.pid)
        finally:
            server.kill()
    if (n := figures["json"][0]["ratings"]) != topics * RATINGS:
        sys.exit(f"{kind}: {n:,} ratings, not {topics * RATINGS:,}")
    print(f"{kind}: {n:,} ratings, server at most {memory} MB")
    for name, rows in figures.items():
        middle = {key: median(row[key] for row in rows) for key in rows[0]}
        seconds = ", ".join(f"{row['s']:.2f}" for row in rows)
        print(
            f"  {name:8} {middle['s']:6.2f} s ({seconds}), CPU of the server {middle['cpu']:.2f} s, "
            f"{middle['mb']:.1f} MB in {middle['requests']:.0f} requests"
        )
    ratio = median(
        slow["s"] / fast["s"]
        for slow, fast in zip(figures["json"], figures["parquet"], strict=True)
    )
    print(
        f"  ratio {ratio:.1f}, at least {GOAL:.0f}: {'yes' if ratio >= GOAL else 'NO'}", flush=True
    )
    return ratio


def smoke() -> str:
    """Read the ratings of two topics both ways on SQLite; see bench.smoke."""
    compare("sqlite", 2, 1)
    return f"{2 * RATINGS:,} ratings, equal as Parquet and as JSON"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--topics", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--databases", default="sqlite,postgres")
    options = parser.parse_args()
    ratios = [
        compare(kind, options.topics, options.rounds) for kind in options.databases.split(",")
    ]
    sys.exit(1 if min(ratios) < GOAL else 0)


if __name__ == "__main__":
    main()
