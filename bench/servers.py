"""Benchmark of our server against the minimal insert server of the peers' kit.

    python -m bench.servers KIT [--secs 20] [--reps 3] [--levels 1,8,32] [--out servers.json]

KIT is the folder of the kit's bench.py (default: $CRUX_SERVER_KIT). Both servers are up at once
and take turns, so that what else the machine does falls on both. Everything that is made goes
below $PEERPERF_ROOT: the kit's environment, databases, logs. PostgreSQL is the kit's private
cluster, which wants `runuser postgres`. Each server gets a free port, and ends with the bench, however
that ends. Exits with 1 where an answer is lost or a target missed.
"""

import argparse
import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.ports import free_port

BENCH_DIR = Path(__file__).resolve().parent
ROOT = BENCH_DIR.parent
# As in bench.serving, which needs packages that the kit's environment lacks.
UNTIL_PARENT_ENDS = ("setpriv", "--pdeathsig", "TERM")
OF_INSERT = 0.4  # of the minimal server's submits per second
PEERS = {  # at 32 users, as measured by the kit's authors
    "Label Studio": (39, 956),
    "doccano": (199, 206),
    "Potato": (140, 337),
    "CRUX's own tool": (112, 559),
}
BEST_PEER = max(rate for rate, _ in PEERS.values())
QUICKEST_PEER = min(p95 for _, p95 in PEERS.values())


def environment(name: str, *packages: str) -> Path:
    """Return the Python of a virtual environment below the kit's folder; create it if missing."""
    folder = Path(os.environ["PEERPERF_ROOT"], "venvs", name)
    if not (folder / "made").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", *packages], check=True)
        (folder / "made").touch()
    return folder / "bin" / "python"


def kit_modules(folder: str):
    """Import the kit's bench module, with our adapter added to its adapters."""
    sys.path.insert(0, folder)
    sys.path.remove(str(BENCH_DIR))  # as the folder of this script it has adapters, too
    importlib.import_module("adapters").__path__.append(str(BENCH_DIR / "adapters"))
    return importlib.import_module("bench")


async def compare(kit, database: str, options) -> dict:
    """Measure both servers on one database: all levels in turn, then the stored rows."""
    servers = [make(f"{database}-granian") for make in _makers()]
    figures = {}
    try:
        for server in servers:
            await begin(kit, server, options.tasks)
        sessions = {
            server.name: [await server.login(i) for i in range(server.n_users)]
            for server in servers
        }
        plans = {server.name: kit.Plan(server, options.tasks) for server in servers}
        loads = {
            server.name: await load_items(kit, server, sessions[server.name], options)
            for server in servers
        }
        runs = {}
        for _ in range(options.reps):
            for level in options.levels:
                for server in servers:
                    run = await kit.submit_level(
                        server, sessions[server.name], plans[server.name], level, options.secs
                    )
                    runs.setdefault((server.name, level), []).append(run)
                    print(f"  {database} {server.name:5} {run}", file=sys.stderr, flush=True)
                    await asyncio.sleep(1)
        for server in servers:
            figures[server.name] = {
                "load": loads[server.name],
                "submit": {level: medians(runs[server.name, level]) for level in options.levels},
                "stored": kit.verify(server, plans[server.name]),
            }
            for session in sessions[server.name]:
                await session["c"].aclose()
    finally:
        for server in servers:
            server.stop()
    return figures


def _makers():
    return [importlib.import_module(f"adapters.{name}").make for name in ("ceil", "crux")]


def isolate(server) -> None:
    """Give a server a free port, and let its processes end with this one, also by SIGKILL.

    On the kit's own ports the server of an earlier run would answer in place of the new one.
    """
    server.port = free_port(server.host)
    commands = server.commands
    server.commands = lambda: [
        ([*UNTIL_PARENT_ENDS, *command], env, folder) for command, env, folder in commands()
    ]


async def begin(kit, server, tasks: int) -> None:
    isolate(server)
    server.reset()
    for command, env, folder in server.init_commands():
        subprocess.run(command, env=os.environ | (env or {}), cwd=folder, check=True)
    server.start()
    await server.setup()
    await server.import_tasks(kit.make_tasks(tasks))


async def load_items(kit, server, sessions, options) -> dict:
    """Return latencies of item loads by eight users, in milliseconds."""
    durations = []

    async def reader(i):
        for j in range(40):
            began = time.perf_counter()
            await server.load(sessions[i], (i * 97 + j * 13) % options.tasks)
            durations.append(time.perf_counter() - began)

    await asyncio.gather(*(reader(i) for i in range(8)))
    return {"p50_ms": kit.ms(kit.pct(durations, 50)), "p95_ms": kit.ms(kit.pct(durations, 95))}


def medians(runs: list[dict]) -> dict:
    """Return medians over the repetitions of a level."""
    errors: dict[str, int] = {}
    for run in runs:
        for name, number in run["errors"].items():
            errors[name] = errors.get(name, 0) + number
    return {
        **{name: median(run[name] for run in runs) for name in ("rps", "p50_ms", "p95_ms")},
        "max_ms": max(run["max_ms"] for run in runs),
        "cores": {
            process: median(run["cores"][process] for run in runs)
            for process in ("server", "client", "others")
        },
        "ok": sum(run["ok"] for run in runs),
        "errors": errors,
    }


def verdicts(database: str, figures: dict, level: int) -> list[tuple[str, bool]]:
    """Return the description of each goal, and whether it is met."""
    ours, insert = figures["crux"]["submit"][level], figures["ceil"]["submit"][level]
    stored = figures["crux"]["stored"]
    ratio = ours["rps"] / insert["rps"]
    wrong = stored["lost"] + stored["wrong_value"] + stored["duplicated"]
    return [
        (f"{database}: {ratio:.2f} of the insert server, {OF_INSERT} wanted", ratio >= OF_INSERT),
        (
            f"{database}: {ours['rps'] / BEST_PEER:.1f} times the best peer's {BEST_PEER}/s, 2 wanted",
            ours["rps"] >= 2 * BEST_PEER,
        ),
        (
            f"{database}: p95 {ours['p95_ms']} ms, below {QUICKEST_PEER} ms wanted",
            ours["p95_ms"] < QUICKEST_PEER,
        ),
        (f"{database}: {wrong} of {stored['acked_keys']} lost, wrong or twice", wrong == 0),
        (f"{database}: {ours['errors'] or 'no'} errors", not ours["errors"]),
    ]


def table(results: dict, levels: list[int]) -> str:
    lines = ["| | users | submits/s | p50 ms | p95 ms | max ms | cores: server, client, others |"]
    lines.append("|---|---|---|---|---|---|---|")
    for database, figures in results.items():
        for name, label in (("ceil", "minimal insert"), ("crux", "here")):
            for level in levels:
                run = figures[name]["submit"][level]
                cores = ", ".join(str(value) for value in run["cores"].values())
                lines.append(
                    f"| {label}, {database} | {level} | {run['rps']} | {run['p50_ms']} |"
                    f" {run['p95_ms']} | {run['max_ms']} | {cores} |"
                )
    for peer, (rate, p95) in PEERS.items():
        lines.append(f"| {peer}, as published in the kit | 32 | {rate} | | {p95} | | |")
    return "\n".join(lines)


def smoke() -> str:
    """Submit to both servers for a second on SQLite; see bench.smoke."""
    from bench.smoke import MissingPartError  # noqa: PLC0415 - not in the kit's environment

    if not os.environ.get("CRUX_SERVER_KIT"):
        raise MissingPartError("no kit of servers (CRUX_SERVER_KIT=FOLDER of its bench.py)")
    command = [sys.executable, "-m", "bench.servers", "--databases", "sqlite", "--levels", "2"]
    command += ["--secs", "1", "--reps", "1", "--tasks", "20", "--out"]
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as folder:
        output = Path(folder, "servers.json")
        # It exits with 1 for a ratio, too.
        process = subprocess.run([*command, output], cwd=ROOT, capture_output=True, text=True)
        if not output.exists():
            sys.exit(process.stderr)
        figures = json.loads(output.read_text())["sqlite"]
    stored = {name: of_server["stored"] for name, of_server in figures.items()}
    for name, counts in stored.items():
        wrong = counts["lost"] + counts["wrong_value"] + counts["duplicated"]
        if wrong or not counts["acked_keys"]:
            sys.exit(f"{name}: {counts}")
    return f"{stored['crux']['acked_keys']} answers acknowledged, and each stored once"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kit", nargs="?", default=os.environ.get("CRUX_SERVER_KIT"))
    parser.add_argument("--databases", default="sqlite,pg")
    parser.add_argument("--levels", default="1,8,32")
    parser.add_argument("--secs", type=float, default=20)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--out")
    options = parser.parse_args()
    if not options.kit:
        parser.error("where is the kit? Name its folder, or set CRUX_SERVER_KIT.")
    os.environ.setdefault("PEERPERF_ROOT", str(ROOT / "var" / "peerperf"))
    options.levels = [int(level) for level in options.levels.split(",")]
    environment("ceil", "django", "granian", "gunicorn", "psycopg[binary]")
    clients = environment("bench", "httpx", "psutil")
    if Path(sys.prefix) != clients.parent.parent:
        os.execv(clients, [clients, Path(__file__).resolve(), *sys.argv[1:]])  # noqa: S606
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    kit = kit_modules(options.kit)
    results = {}
    for database in options.databases.split(","):
        with_cluster = database == "pg"
        if with_cluster:
            subprocess.run(["bash", f"{options.kit}/pg.sh", "start"], check=True)
        try:
            results[database] = asyncio.run(compare(kit, database, options))
        finally:
            if with_cluster:
                subprocess.run(["bash", f"{options.kit}/pg.sh", "stop"], check=True)
    print(table(results, options.levels))
    checks = [
        verdict
        for database, figures in results.items()
        for verdict in verdicts(database, figures, max(options.levels))
    ]
    for description, holds in checks:
        print(f"{'ok   ' if holds else 'SHORT'} {description}")
    print(json.dumps(results))
    if options.out:
        Path(options.out).write_text(json.dumps(results, indent=1))
    sys.exit(0 if all(holds for _, holds in checks) else 1)


if __name__ == "__main__":
    main()
