"""Benchmark of the first look at result pages while people answer.

    make bench-live    # or python -m bench.live [--topics 500] [--systems 50] [--people 20] [--writes 20]

One process of granian serves a study: five of the people grade each report, a judge all texts; 500 topics with
50 systems have 1,264,000 ratings. --database is sqlite, or postgres: at $PG_URL, where a database
crux_bench_live is made and dropped.
Another process records grades of people, as the task page does, so many a second. Each page is fetched three
times after one grade was written, and three times while grades arrive, when no result is cached. Then come the
95th percentiles of the writes with and without a reader, and the peak memory of the server.

Prints a table; exits with 1 where a page fails or no grade was written.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from bench.large_results import Site
from bench.serving import ROOT, database

PAGES = (
    *("home", "dataset", "agreement", "disagreements", "a pair", "rating matrices", "retrieval"),
    *("two runs", "mixed model", "calibration", "paper", "exports"),
)
REPEATS = 3
SECONDS = 15  # of writes without a reader; with one, twice as many
WRITE = """
import json, sys
from bench.large_results_material import record_grades
for milliseconds in record_grades(per_second={}, seconds={}):
    print(json.dumps(milliseconds), flush=True)
"""


class Writer:
    """Process that records grades until it is stopped; `latencies` has milliseconds of each."""

    def __init__(self, site: Site, per_second: float, seconds: float = 3600) -> None:
        code = WRITE.format(per_second, seconds)
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v0", "-c", code],
            env=site.env,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.latencies = [json.loads(self.process.stdout.readline())]  # it has begun

    def stop(self) -> list[float]:
        self.process.terminate()
        output, _ = self.process.communicate()
        self.latencies += [json.loads(line) for line in output.splitlines() if line]
        return self.latencies


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, default in (("topics", 500), ("systems", 50), ("people", 20), ("writes", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="crux-bench-") as folder,
        database(options.database, Path(folder), "crux_bench_live") as (url, _),
    ):
        site = Site(Path(folder), options.topics, options.systems, options.people, url)
        site.server.start()
        try:
            failed = _measure(site, options.writes)
        finally:
            site.server.kill()
    sys.exit(1 if failed else 0)


def smoke() -> str:
    """Look at one page while six people answer; see bench.smoke."""
    globals().update(PAGES=("dataset",), REPEATS=1, SECONDS=0.5)
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as folder:
        site = Site(Path(folder), 1, 2, people=6)
        site.server.start()
        try:
            failed = _measure(site, 20)
        finally:
            site.server.kill()
    if failed:
        sys.exit("A page failed, or no grade was written.")
    return "one page fetched while grades were written"


def _measure(site: Site, writes: int) -> bool:
    failed = False
    print(f"{'page':28}{'at rest, s':>12}{'live, s':>12}")
    for name in PAGES:
        idle = [_after_a_write(site, name) for _ in range(REPEATS)]
        writer = Writer(site, writes)
        live = [site.fetch_once(site.pages[name]) for _ in range(REPEATS)]
        failed |= len(writer.stop()) < 1 or any(status != 200 for status, *_ in idle + live)
        print(
            f"{name:28}{median(response[1] for response in idle):12.2f}"
            f"{median(response[1] for response in live):12.2f}",
            flush=True,
        )
    writer = Writer(site, writes, seconds=SECONDS + 5)
    time.sleep(SECONDS)
    unread = writer.stop()
    writer = Writer(site, writes)
    end = time.monotonic() + 2 * SECONDS
    while time.monotonic() < end:
        site.fetch_once(site.pages["agreement"])
    with_reader = writer.stop()
    for label, latencies in (("without a reader", unread), ("with a reader", with_reader)):
        p95 = quantiles(latencies, n=20)[-1]
        print(f"p95 of {len(latencies)} writes {label}: {p95:.1f} ms")
    print(f"memory at the most: {site.memory()} MB")
    return failed


def _after_a_write(site: Site, name: str) -> tuple[int, float, int]:
    Writer(site, 1, seconds=0.5).stop()
    return site.fetch_once(site.pages[name])


if __name__ == "__main__":
    main()
