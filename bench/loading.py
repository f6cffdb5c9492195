"""Benchmark of loading 620,000 ratings into arrays, and of the agreement page.

    python -m bench.loading

Each part runs in a process of its own, on new SQLite files that are deleted afterwards: 5,000
topics of 12 or 13 passages and 10 questions, all rated by one judge, and one retrieval run. The
plain loop over model instances runs on a part of the topics and is scaled up. The agreement page is
asked for with the real study where ../shared/data or CRUX_DATA has it, else with the demo's.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.serving import ROOT, new_sqlite

TOPICS = 5_000
MEMORY_GOAL = 300  # MB


def measure(topics: int) -> tuple[int, dict, dict, dict]:
    """Return the number of ratings, and the figures of arrays, plain loop and page."""
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as folder:
        large, study = Path(folder, "many"), Path(folder, "study")
        return (
            _run_in_process("seed", large, topics)["ratings"],
            _run_in_process("arrays", large, topics),
            _run_in_process("plain", large, topics),
            _run_in_process("agreement", study),
        )


def lines() -> list[str]:
    """Measure all parts; return the report with seconds, megabytes and ratios."""
    n, arrays, plain, page = measure(TOPICS)
    ratio = plain["seconds"] / arrays["seconds"]
    grown = plain["mb"] / arrays["mb"]
    within = "within" if arrays["mb"] < MEMORY_GOAL else "OVER"
    return [
        f"{n:,} ratings of {TOPICS:,} topics into arrays: {arrays['seconds']:.2f} s, peak "
        f"{arrays['mb']:.0f} MB more ({within} the goal of {MEMORY_GOAL} MB)",
        f"  a plain loop over model instances: {plain['seconds']:.1f} s, {plain['mb']:.0f} MB "
        f"(1 in {plain['part']} topics, scaled): {ratio:.1f} times the time, {grown:.1f} times the memory",
        f"  with pools, required subsets and token counts: {arrays['pools']:.2f} s; all scores of "
        f"one run and of Z*: {arrays['scores']:.2f} s; from the cache: "
        f"{arrays['cached']:.2f} s",
        f"agreement page, {page['data']}: first {page['first']:.0f} ms, then "
        f"{page['median']:.0f} ms (median of {page['again']}), {page['kb']:.0f} kB",
    ]


def smoke() -> str:
    """Load the ratings of 100 topics both ways, then the agreement page; see bench.smoke."""
    os.environ["CRUX_DATA"] = str(ROOT / "fixtures" / "demo")
    n, arrays, plain, _ = measure(100)
    if not n == arrays["ratings"] == plain["ratings"] * plain["part"]:
        raise SystemExit(f"{n} ratings: {arrays['ratings']} in arrays, {plain['ratings']} by loop.")
    return f"{n:,} ratings in arrays, and the agreement page"


def main() -> None:
    print("\n".join(lines()))


def _run_in_process(part: str, folder: Path, *arguments: int) -> dict:
    """Run one part in a separate process, with the database in this folder."""
    folder.mkdir(exist_ok=True)
    database = folder / "bench.sqlite3"
    env = os.environ | {
        "VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{database}" if database.exists() else new_sqlite(database),
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",  # of the static files, which are not collected here
    }
    code = (
        f"import json; from bench import loading_parts as p; print(json.dumps(p.{part}{arguments}))"
    )
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
    process = subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(process.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
