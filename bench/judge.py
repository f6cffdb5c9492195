"""Benchmark of the judging engine: overhead over bare inserts, baseline, memory.

    python -m bench.judge            # or make bench-judge; --parts overhead,lexical,many; --pairs 20000

Each part has processes of its own and new databases: SQLite files, which are deleted, and on
PostgreSQL `crux_bench_judge` ($PG_URL names the server), which is dropped again. In the first part the
engine plans, leases, asks a grader that answers at once, and stores; then a plain loop inserts rows with
the same values into the same tables, as many in a transaction, by the fastest statement known for that
database. They take turns. Read the ratio: times alone depend on what else the machine does.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.serving import ROOT, database

NAME = "crux_bench_judge"
PARTS = ("overhead", "lexical", "many")


def overhead(kind: str, pairs: int) -> list[str]:
    text = [
        f"{kind}: the engine with a null grader beside bare inserts, median of rounds in turn",
        f"{'at once':>8} {'pairs':>8} {'plan':>9} {'engine':>14} {'bare':>14} {'engine/bare':>12}",
    ]
    return text + [
        f"{row['batch']:>8,} {row['pairs']:>8,} {row['plan']:>7.2f} s {row['engine']:>11,.0f} /s "
        f"{row['bare']:>11,.0f} /s {row['engine'] / row['bare']:>12.2f}"
        for row in _run_in_process("overhead", kind, pairs)["rows"]
    ]


def lexical(kind: str, pairs: int) -> list[str]:
    figures = _run_in_process("lexical", kind, pairs)
    return [
        f"{kind}: the baseline over {figures['pairs']:,} pairs: {figures['seconds']:.1f} s, of which "
        f"{figures['fit']:.1f} s fitting and {figures['plan']:.1f} s planning; "
        f"{figures['pairs'] / figures['seconds']:,.0f} pairs/s; at most {figures['mb']:.0f} MB more than at "
        "the start"
    ]


def many(kind: str, pairs: int) -> list[str]:
    figures = _run_in_process("many", kind, pairs)
    mb = " ".join(f"{value:.0f}" for value in figures["mb"])
    return [
        f"{kind}: {figures['pairs']:,} pairs planned in {figures['plan']:.0f} s, at most "
        f"{figures['plan_mb']:.0f} MB more; filled in {figures['pump']:.0f} s",
        f"  MB more than at the start, after each tenth of the pairs: {mb}; at most {figures['most']:.0f}",
        f"  progress of the whole run: {figures['progress']:.0f} ms; its failures {figures['failures']:.0f} ms",
    ]


def smoke() -> str:
    """Run all parts with one or two topics on SQLite, which count their rows; see bench.smoke."""
    rows = _run_in_process("overhead", "sqlite", 400)["rows"]
    counts = [
        *(row["pairs"] for row in rows),
        _run_in_process("lexical", "sqlite", 240)["pairs"],
        _run_in_process("many", "sqlite", 600)["pairs"],
    ]
    if counts != [400, 400, 240, 600]:
        raise SystemExit(f"pairs planned: {counts}")
    return f"{sum(counts):,} pairs graded and stored, as by the bare inserts"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--databases", default="sqlite,postgres")
    parser.add_argument("--pairs", type=int, default=40_000, help="of a round of the first part")
    parser.add_argument("--lexical", type=int, default=620_000)
    parser.add_argument("--many", type=int, default=3_000_000)
    options = parser.parse_args()
    for part in options.parts.split(","):
        pairs = options.pairs if part == "overhead" else getattr(options, part)
        for kind in options.databases.split(","):
            print("\n".join(globals()[part](kind, pairs)), end="\n\n", flush=True)


def _run_in_process(part: str, kind: str, pairs: int) -> dict:
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
        code = (
            f"import json; from bench import judge_parts as p; print(json.dumps(p.{part}({pairs})))"
        )
        command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
        process = subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(process.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
