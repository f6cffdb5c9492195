"""A crowd at work on the real server, which is killed again and again; then everything is counted.

    python -m bench.campaign [--databases sqlite,postgres] [--seconds 60] [--workers 32] [--kills 3]

For each database a study of its own is made and the server started. Workers arrive as Prolific
sends them and work without a pause; meanwhile the whole server is killed (SIGKILL) and started
again. At the end the database is read, past the server. Prints a table and a JSON object; exits
with 1 where one count is not as it must be. PostgreSQL is asked for at $PG_URL, where a
database crux_bench is made and dropped.
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

from bench.reckoning import reckon
from bench.serving import ROOT, Server, cpu_of, database

SLUG = "bench"
PROCESSES = 4  # of the crowd
HANDED_IN = "select count(*) from annotation_assignment where state = 'submitted'"
# In one process: each would have to load the site first.
PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
from bench.material import seed_campaign
"""


@dataclass(frozen=True)
class Plan:
    """A study and the crowd that works on it.

    The kills part the seconds evenly. Where it says how many items are enough, each of these times is over
    once so many more are handed in, and the seconds are the most that it takes.
    """

    seconds: float = 60.0
    enough: int = 0
    workers: int = 32
    kills: int = 3
    items: int = 1000
    questions: int = 12
    raters_per_item: int = 3
    items_per_part: int = 5


@dataclass
class Outcome:
    database: str
    there: dict
    wrong: dict
    figures: dict
    restarts: list[float]
    cores: dict
    failures: dict
    stopped: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not any(self.wrong.values())


def run(kind: str, plan: Plan, name: str = "crux_bench") -> Outcome:
    """The whole of it on one database."""
    with (
        tempfile.TemporaryDirectory(prefix="crux-bench-") as made,
        database(kind, Path(made), name) as (url, rows),
    ):
        env = os.environ | {
            "VAR_DIR": made,
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
            "PYTHONPATH": str(ROOT),
        }
        options = SLUG, plan.items, plan.questions, plan.raters_per_item, plan.items_per_part
        prepare = f"{PREPARE}seed_campaign{options}"
        manage = [sys.executable, "manage.py", "shell", "-v0", "-c", prepare]
        subprocess.run(manage, env=env, check=True, cwd=ROOT)
        server = Server(env)
        try:
            server.start()
            workers, cores, restarts, lasted = _under_load(server, plan, rows)
        finally:
            server.kill()
        there, wrong = reckon(rows, workers, plan.raters_per_item)
    return Outcome(
        database=kind,
        there=there,
        wrong=wrong,
        figures=_figures(workers, lasted),
        restarts=restarts,
        cores=cores,
        failures=_summed(worker["failures"] for worker in workers),
        stopped=[worker["stopped"] for worker in workers if worker["stopped"]],
    )


def _under_load(server: Server, plan: Plan, rows):
    """What the workers tell, the cores that were busy, the restarts, and how long it took."""
    began, cpu_before = time.time(), cpu_of(server.process.pid)
    processes = min(PROCESSES, plan.workers)
    crowd = []
    first = 0
    for index in range(processes):
        number = plan.workers // processes + (index < plan.workers % processes)
        options = {
            "port": server.port,
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
        server.kill()
        restarts.append(round(server.start(), 2))
    if plan.enough:
        _wait(plan, began, plan.kills + 1, rows)
        for process in crowd:
            process.terminate()  # which it takes for the end of its time
    told = [json.loads(process.communicate()[0]) for process in crowd]
    lasted = time.time() - began
    cores = {
        "server": round((server.cpu + cpu_of(server.process.pid) - cpu_before) / lasted, 2),
        "crowd": round(sum(output["cpu"] for output in told) / lasted, 2),
    }
    return [worker for output in told for worker in output["workers"]], cores, restarts, lasted


def _wait(plan: Plan, began: float, part: int, rows) -> None:
    """Until a part of the time is over, counted from 1."""
    end = began + plan.seconds * part / (plan.kills + 1)
    if not plan.enough:
        time.sleep(max(0.0, end - time.time()))
    while time.time() < end and rows(HANDED_IN)[0][0] < plan.enough * part:
        time.sleep(0.2)


def _summed(counts) -> dict:
    total: dict[str, int] = {}
    for count in counts:
        for what, number in count.items():
            total[what] = total.get(what, 0) + number
    return total


def _figures(workers: list[dict], lasted: float) -> dict:
    """Rates, and milliseconds of requests that were answered; `acknowledged` includes every resend."""
    figures: dict = {"seconds": round(lasted, 1)}
    for what in ("answer", "acknowledged", "item", "submit"):
        took = sorted(second for worker in workers for second in worker["took"][what])
        figures[what] = {
            "n": len(took),
            "per_s": round(len(took) / lasted, 1),
            **{
                f"{name}_ms": round(took[round(share * (len(took) - 1))] * 1000, 1)
                for name, share in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))
                if took
            },
        }
    return figures


def table(outcomes: list[Outcome]) -> str:
    """The counts and the figures, a column for each database."""
    lines = ["| | " + " | ".join(outcome.database for outcome in outcomes) + " |"]
    lines.append("|---|" + "---|" * len(outcomes))

    def line(label: str, values) -> None:
        lines.append(f"| {label} | " + " | ".join(str(value) for value in values) + " |")

    for what in outcomes[0].there:
        line(what, [outcome.there[what] for outcome in outcomes])
    for what in outcomes[0].wrong:
        line(f"{what} (0)", [outcome.wrong.get(what, "-") for outcome in outcomes])
    for what, words in (
        ("answer", "answers"),
        ("acknowledged", "answers with all resends"),
        ("item", "loads of an item"),
        ("submit", "handing in"),
    ):
        line(f"{words} per s", [outcome.figures[what]["per_s"] for outcome in outcomes])
        line(
            f"{words}, p50 / p95 / max ms",
            [
                " / ".join(str(outcome.figures[what].get(f"{p}_ms")) for p in ("p50", "p95", "max"))
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
        for words in outcome.stopped:
            print(f"stopped, {outcome.database}: {words}")
    print(json.dumps([asdict(outcome) for outcome in outcomes]))
    sys.exit(0 if all(outcome.holds for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
