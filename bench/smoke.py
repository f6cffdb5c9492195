"""Smoke run of all benches: each runs at a tiny size, and its rows are checked.

    make bench-smoke        # or python -m bench.smoke [NAME ...]

Each module of MODULES has a function `smoke`. It runs the bench at the smallest size on SQLite, checks how
many rows were stored and that values equal those of the reference, and returns a line on them. It has a
process of its own, so it may set the sizes that its module has as constants. Timings and ratios are not
checked. A bench, or a part of one, that needs what this machine lacks is reported as SKIPPED.
Exits with 1 if a bench fails.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import django

from bench.serving import PREPARE, ROOT

# While the first ones run, a site is prepared, of which each of the others gets a copy.
WITHOUT_DATABASE = (
    *("coverage", "retrieval", "bootstrap", "metrics", "overlap", "label_samples", "copies"),
    *("judge_client", "replies", "servers"),
)
WITH_DATABASE = (
    *("live", "large_results", "loading", "result_layout", "campaign", "judge", "task_pages"),
    *("large_import", "client_ratings", "writer_client", "building", "judge_server"),
)
MODULES = WITHOUT_DATABASE + WITH_DATABASE
IMPORTS_MODELS = ("coverage", "label_samples")
AT_ONCE = 2  # on two cores, because some wait
SKIPPED = 77  # exit status, as in automake
LIMIT = 300  # seconds of a bench, on a busy machine


class MissingPartError(Exception):
    """An optional part of a bench is not on this machine; the message names it."""


def check(name: str) -> None:
    """Run the smoke function of one bench in this process, and print its line."""
    if name in IMPORTS_MODELS:
        os.environ["DJANGO_SETTINGS_MODULE"] = "crux_site.settings"
        django.setup()
    try:
        print(import_module(f"bench.{name}").smoke())
    except MissingPartError as error:
        print(error)
        sys.exit(SKIPPED)


def run_check(name: str, env: dict[str, str]) -> bool:
    """Run one bench in a process of its own; print the result, and return if it passed."""
    code = f"from bench.smoke import check; check({name!r})"
    began = time.perf_counter()
    try:
        process = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        print(f"{name:15} FAILED: not finished after {LIMIT} s", flush=True)
        return False
    seconds = time.perf_counter() - began
    [*_, last] = process.stdout.splitlines() or [""]
    if process.returncode not in (0, SKIPPED):
        print(f"{name:15} FAILED with {process.returncode}:\n{process.stdout}", flush=True)
        return False
    status = "SKIPPED: " if process.returncode == SKIPPED else ""
    print(f"{name:15} {seconds:5.1f} s  {status}{last}", flush=True)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODULES)}")
    names = parser.parse_args().names
    if unknown := set(names) - set(MODULES):
        parser.error(
            f"There is no bench {', '.join(sorted(unknown))}. Benches: {', '.join(MODULES)}."
        )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as folder:
        env = os.environ | {"VAR_DIR": folder, "PYTHONWARNINGS": "ignore"}
        env.pop("DATABASE_URL", None)  # some benches would take it

        def prepare() -> str:
            if (ready := Path(os.environ.get("RUN_FILES", folder), "prepared")).exists():
                return str(ready)  # `make test` has one
            command = [sys.executable, "manage.py", "shell", "-v0", "-c", PREPARE]
            subprocess.run(command, cwd=ROOT, env=env, check=True)
            return folder

        def checked(name: str, prepared: Future[str]) -> bool:
            if name in WITHOUT_DATABASE:
                return run_check(name, env)
            return run_check(name, env | {"BENCH_PREPARED": prepared.result()})

        with ThreadPoolExecutor(AT_ONCE) as pool:
            prepared = pool.submit(prepare)
            results = list(pool.map(lambda name: checked(name, prepared), names or MODULES))
    print(f"{sum(results)} of {len(results)} benches passed in {time.perf_counter() - began:.0f} s")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
