"""Load test: simulated workers on a real server that is killed and restarted.

    python -m bench.campaign [--databases sqlite,postgres] [--seconds 60] [--workers 32] [--kills 3]
        [--sites 1]

For each database a study of its own is made and the server started. Workers arrive as Prolific
sends them and work without a pause; meanwhile the whole server is killed (SIGKILL) and started
again. At the end the database is read directly, without the server. Prints a table and a JSON object;
exits with 1 if an invariant is violated or no answer was acknowledged. PostgreSQL is reached at $PG_URL,
where a database crux_bench is made and dropped; `pooled` is the same behind PgBouncer in transaction mode.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.reconciliation import reconcile
from bench.serving import PREPARE, ROOT, Server, cpu_of, database

SLUG = "bench"
PROCESSES = 4  # of the crowd
SUBMITTED = "select count(*) from annotation_assignment where state = 'submitted'"


@dataclass(frozen=True)
class Plan:
    """A study and the crowd that works on it.

    The kills split the seconds evenly. If `enough` is set, each of these intervals ends
    once so many more items are submitted, and the seconds are its upper limit. `sites` are servers on
    ports of their own, with one database; the processes of the crowd use them in turn.
    """

    seconds: float = 60.0
    enough: int = 0
    workers: int = 32
    kills: int = 3
    items: int = 1000
    questions: int = 12
    raters_per_item: int = 3
    items_per_part: int = 5
    sites: int = 1


@dataclass
class Outcome:
    database: str
    totals: dict
    violations: dict
    figures: dict
    restarts: list[float]
    cores: dict
    failures: dict
    stopped: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return self.n_acknowledged > 0 and not any(self.violations.values())

    @property
    def n_acknowledged(self) -> int:
        return self.totals["answers acknowledged"]


def run(kind: str, plan: Plan, name: str = "crux_bench") -> Outcome:
    """Run the load test on one database."""
    with (
        tempfile.TemporaryDirectory(prefix="crux-bench-") as folder,
        database(kind, Path(folder), name) as (url, rows),
    ):
        env = os.environ | {
            "VAR_DIR": folder,
            "DATABASE_URL": url,
            "DATABASE_POOLED": "1" if kind == "pooled" else "0",
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
            "PYTHONPATH": str(ROOT),
        }
        options = SLUG, plan.items, plan.questions, plan.raters_per_item, plan.items_per_part
        prepare = f"{PREPARE}\nfrom bench.material import seed_campaign\nseed_campaign{options}"
        manage = [sys.executable, "manage.py", "shell", "-v0", "-c", prepare]
        subprocess.run(manage, env=env, check=True, cwd=ROOT)
        servers = [Server(env) for _ in range(plan.sites)]
        try:
            _start(servers)
            workers, cores, restarts, lasted = _under_load(servers, plan, rows)
        finally:
            _kill(servers)
        totals, violations = reconcile(rows, workers, plan.raters_per_item)
    return Outcome(
        database=kind,
        totals=totals,
        violations=violations,
        figures=_figures(workers, lasted),
        restarts=restarts,
        cores=cores,
        failures=_sum_counts(worker["failures"] for worker in workers),
        stopped=[worker["stopped"] for worker in workers if worker["stopped"]],
    )


def _start(servers: list[Server]) -> float:
    """Start all servers; return the seconds until the last one answered."""
    return sum(server.start() for server in servers)


def _kill(servers: list[Server]) -> None:
    for server in servers:
        if server.process:
            server.kill()


def _cpu(servers: list[Server]) -> float:
    return sum(server.cpu + cpu_of(server.process.pid) for server in servers)


def _under_load(servers: list[Server], plan: Plan, rows):
    """Return worker reports, busy cores, restart times, and elapsed seconds."""
    began, cpu_before = time.time(), _cpu(servers)
    processes = min(PROCESSES, plan.workers)
    crowd = []
    first = 0
    for index in range(processes):
        number = plan.workers // processes + (index < plan.workers % processes)
        options = {
            "port": servers[index % len(servers)].port,
            "slug": SLUG,
            "first": first,
            "workers": number,
            "until": began + plan.seconds,
        }
        first += number
        command = [sys.executable, "-m", "bench.crowd", json.dumps(options)]
        crowd.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
    restarts = []
    for kill in range(plan.kills):
        _wait(plan, began, kill + 1, rows)
        _kill(servers)
        restarts.append(round(_start(servers), 2))
    if plan.enough:
        _wait(plan, began, plan.kills + 1, rows)
        for process in crowd:
            process.terminate()  # the crowd takes SIGTERM for the end of its time
    outputs = [json.loads(process.communicate()[0]) for process in crowd]
    elapsed = time.time() - began
    cores = {
        "server": round((_cpu(servers) - cpu_before) / elapsed, 2),
        "crowd": round(sum(output["cpu"] for output in outputs) / elapsed, 2),
    }
    return [worker for output in outputs for worker in output["workers"]], cores, restarts, elapsed


def _wait(plan: Plan, began: float, part: int, rows) -> None:
    """Wait for the end of an interval of the plan, counted from 1."""
    end = began + plan.seconds * part / (plan.kills + 1)
    if not plan.enough:
        time.sleep(max(0.0, end - time.time()))
    while time.time() < end and rows(SUBMITTED)[0][0] < plan.enough * part:
        time.sleep(0.2)


def _sum_counts(counts) -> dict:
    total: dict[str, int] = {}
    for count in counts:
        for name, number in count.items():
            total[name] = total.get(name, 0) + number
    return total


def _figures(workers: list[dict], elapsed: float) -> dict:
    """Return rates, and latencies in milliseconds of answered requests.

    `acknowledged` includes all resends.
    """
    figures: dict = {"seconds": round(elapsed, 1)}
    for action in ("answer", "acknowledged", "item", "submit"):
        durations = sorted(second for worker in workers for second in worker["durations"][action])
        figures[action] = {
            "n": len(durations),
            "per_s": round(len(durations) / elapsed, 1),
            **{
                f"{name}_ms": round(durations[round(share * (len(durations) - 1))] * 1000, 1)
                for name, share in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))
                if durations
            },
        }
    return figures


def table(outcomes: list[Outcome]) -> str:
    """Return a Markdown table of counts and figures, with a column for each database."""
    lines = ["| | " + " | ".join(outcome.database for outcome in outcomes) + " |"]
    lines.append("|---|" + "---|" * len(outcomes))

    def line(label: str, values) -> None:
        lines.append(f"| {label} | " + " | ".join(str(value) for value in values) + " |")

    for name in outcomes[0].totals:
        line(name, [outcome.totals[name] for outcome in outcomes])
    for name in outcomes[0].violations:
        line(f"{name} (0)", [outcome.violations.get(name, "-") for outcome in outcomes])
    for name, caption in (
        ("answer", "answers"),
        ("acknowledged", "answers with all resends"),
        ("item", "loads of an item"),
        ("submit", "submitting"),
    ):
        line(f"{caption} per s", [outcome.figures[name]["per_s"] for outcome in outcomes])
        line(
            f"{caption}, p50 / p95 / max ms",
            [
                " / ".join(str(outcome.figures[name].get(f"{p}_ms")) for p in ("p50", "p95", "max"))
                for outcome in outcomes
            ],
        )
    line("kills", [len(outcome.restarts) for outcome in outcomes])
    line(
        "s until it answered again", [", ".join(map(str, outcome.restarts)) for outcome in outcomes]
    )
    line(
        "cores: server, crowd",
        [f"{outcome.cores['server']}, {outcome.cores['crowd']}" for outcome in outcomes],
    )
    return "\n".join(lines)


def smoke() -> str:
    """Let two workers submit two items on SQLite; see bench.smoke."""
    plan = Plan(seconds=60, enough=2, workers=2, kills=0, items=12, questions=2, items_per_part=2)
    outcome = run("sqlite", plan)
    if not outcome.holds:
        sys.exit(f"{outcome.totals} {outcome.violations} {outcome.stopped}")
    return f"{outcome.n_acknowledged} answers acknowledged, and each stored once"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--databases", default="sqlite,postgres")
    for name, value in asdict(Plan()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    options = vars(parser.parse_args())
    kinds = options.pop("databases").split(",")
    plan = Plan(**options)
    outcomes = []
    for kind in kinds:
        print(
            f"== {kind}: {plan.workers} workers, {plan.seconds} s, {plan.kills} kills", flush=True
        )
        outcomes.append(run(kind, plan))
    print(table(outcomes))
    for outcome in outcomes:
        for reason in outcome.stopped:
            print(f"stopped, {outcome.database}: {reason}")
        if not outcome.n_acknowledged:
            print(
                f"{outcome.database}: no answer was acknowledged in {plan.seconds:g} s, so nothing was "
                "tested. Give the crowd more time with --seconds."
            )
    print(json.dumps([asdict(outcome) for outcome in outcomes]))
    sys.exit(0 if all(outcome.holds for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
