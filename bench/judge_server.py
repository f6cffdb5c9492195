"""Benchmark of a judge at `vllm serve` against the bare engine, on a machine with a GPU.

    python -m bench.judge_server --vllm ~/vllm --model MODEL [--pairs 5000] [--parts server,kill]

`--vllm` is the environment of vLLM. Each part sends the same messages, of demo texts with ten
questions each:

- engine: `LLM.chat` gets all messages at once, beside our grader in the same process (bench.judge_vllm).
- server: a plain loop of aiohttp, then `manage.py judge`, both at one `vllm serve` and with an empty
  prefix cache. The run is timed from its planning to its end; the command also starts Python and Django.
- kill: `manage.py judge` is killed with SIGKILL after half of the pairs, and started again. A proxy
  counts the requests.
- offline: `judge_export`, `judging.offline.cluster --no-ray` at the server, `judge_import`; needs pyarrow.

The database is a new SQLite file, or one on PostgreSQL with --database postgres. Utilisation of the GPU
is that of nvidia-smi. Read the ratios: pairs a second depend on the GPU and the model.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

import aiohttp

from bench.judge_vllm import QUESTIONS, make_pairs, make_spec
from bench.serving import ROOT, database
from judging.graders.chat import request_variants
from judging.grading.prompt import render
from judging.llm.probe import probe
from tests.toolbox.counting_proxy import CHAT, CountingProxy
from tests.toolbox.model_process import ModelProcess

PARTS = ("engine", "server", "kill", "offline")
SLUG = "bench"
LEASE = 8  # seconds: how long the pairs of a killed worker wait
MAX_MODEL_LEN = 4_096
SAMPLE_MS = 200
GIVE_UP = 300  # seconds


class Vllm(ModelProcess):
    """`vllm serve` as docs/judging.md starts it; its prefix cache can be emptied."""

    name = "vLLM"
    environment = {"VLLM_SERVER_DEV_MODE": "1", "VLLM_NO_USAGE_STATS": "1"}

    def __init__(self, options: argparse.Namespace, log: Path) -> None:
        super().__init__(log)
        self.options = options

    def command(self) -> list[str]:
        options = self.options
        return [
            *(str(options.vllm / "bin" / "vllm"), "serve", options.model),
            *("--host", "127.0.0.1", "--port", str(self.port)),
            *("--max-model-len", str(MAX_MODEL_LEN), "--max-num-seqs", str(options.concurrency)),
            *options.serve.split(),
        ]

    def empty_cache(self) -> None:
        request = urllib.request.Request(f"{self.address}/reset_prefix_cache", method="POST")
        urllib.request.urlopen(request, timeout=60).close()

    def n_replies(self) -> int:
        """Return the number of requests that the server has finished, from its metrics."""
        with urllib.request.urlopen(f"{self.address}/metrics", timeout=60) as reply:
            lines = reply.read().decode().splitlines()
        counts = [line for line in lines if line.startswith("vllm:request_success_total{")]
        return sum(int(float(line.rpartition(" ")[2])) for line in counts)


@dataclass
class Site:
    """Empty site with the pairs, the judges and one model server."""

    env: dict[str, str]
    rows: Callable[[str], list[tuple[Any, ...]]]
    concurrency: int

    def judge(self, name: str, address: str) -> list[str]:
        self.env["JUDGE_ENDPOINTS"] = f"local={address}/v1"
        return self.command(
            *("judge", SLUG, "--judge", name, "--endpoint", "local"),
            *("--concurrency", str(self.concurrency), "--json"),
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "manage.py", *arguments]

    def run(self, command: list[str]) -> str:
        return subprocess.run(
            command, env=self.env, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def one(self, query: str) -> Any:
        return self.rows(query)[0][0]


@dataclass
class Timing:
    """Rates of rounds in pairs a second, and the utilisation of the GPU in percent."""

    rates: list[float]
    gpu: list[float]

    def __str__(self) -> str:
        use = f"{mean(self.gpu):.0f}%" if self.gpu else "-"
        spread = f"({min(self.rates):,.1f} to {max(self.rates):,.1f})"
        return f"{median(self.rates):>9,.1f} {use:>6} {spread}"


@contextmanager
def gpu_use(values: list[float]) -> Iterator[None]:
    """Append the mean utilisation of the first GPU meanwhile, where there is nvidia-smi."""
    program = shutil.which("nvidia-smi")
    if not program:
        yield
        return
    query = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--id=0"]
    command = [program, *query, f"--loop-ms={SAMPLE_MS}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield
    finally:
        process.terminate()
        output, _ = process.communicate()
    if samples := [float(line) for line in output.split() if line.isdigit()]:
        values.append(mean(samples))


def engine_rates(options: argparse.Namespace, prompt: str) -> dict[str, Any]:
    """Return the rates of LLM.chat and of our grader, from a process of vLLM's environment."""
    arguments = {"max_model_len": MAX_MODEL_LEN, "max_num_seqs": options.concurrency}
    arguments |= json.loads(options.engine_args)
    command = [str(options.vllm / "bin" / "python"), "-m", "bench.judge_vllm", "--json"]
    command += ["--model", options.model, "--pairs", str(options.pairs), "--prompt", prompt]
    command += ["--in-flight", str(options.concurrency), "--engine-args", json.dumps(arguments)]
    env = os.environ | {"VLLM_NO_USAGE_STATS": "1"}
    process = subprocess.run(
        command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    # vLLM writes its log there too, also at its end.
    [line] = [line for line in process.stdout.splitlines() if line.startswith('{"bare"')]
    return json.loads(line)


def requests_of(options: argparse.Namespace, prompt: str, labels: Sequence[int]) -> list[dict]:
    """Return the requests that a judge sends."""
    spec = replace(make_spec(options.model, prompt), backend="openai", label_ids=tuple(labels))
    [parameters, *_] = request_variants(spec)
    return [{**parameters, "messages": render(spec, pair)} for pair in make_pairs(options.pairs)]


def bare_loop(address: str, requests: list[dict], concurrency: int) -> int:
    """Return the number of replies that are one character long."""

    async def ask_all() -> int:
        connector = aiohttp.TCPConnector(limit=concurrency)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            slots = asyncio.Semaphore(concurrency)

            async def ask(request: dict) -> bool:
                async with slots, session.post(f"{address}{CHAT}", json=request) as response:
                    completion = await response.json()
                return "content" in completion["choices"][0]["message"]

            return sum(await asyncio.gather(*map(ask, requests)))

    return asyncio.run(ask_all())


def compare_server(
    site: Site, server: Vllm, options: argparse.Namespace, labels: list[int]
) -> None:
    print(f"\n{'at the server':>32} {'pairs/s':>9} {'GPU':>6} ({options.rounds} rounds)")
    for prompt in options.prompts.split(","):
        requests = requests_of(options, prompt, labels)
        bare, command, run = Timing([], []), Timing([], []), Timing([], [])
        for number in range(options.rounds):
            server.empty_cache()
            began = time.perf_counter()
            with gpu_use(bare.gpu):
                n = bare_loop(server.address, requests, options.concurrency)
            bare.rates.append(n / (time.perf_counter() - began))
            server.empty_cache()
            began = time.perf_counter()
            with gpu_use(command.gpu):
                outcome = json.loads(site.run(site.judge(f"{prompt}-{number}", server.address)))
            command.rates.append(options.pairs / (time.perf_counter() - began))
            run.rates.append(options.pairs / seconds_of(site, outcome["run"]))
        check_run(site, f"{prompt}-0", options.pairs)
        print(f"{prompt + ': aiohttp':>32} {bare}\n{'the whole command':>32} {command}")
        print(f"{'judge run':>32} {run}")
        ratio = median(r / b for r, b in zip(run.rates, bare.rates, strict=True))
        print(f"{'judge run / aiohttp':>32} {ratio:>9.2f}", flush=True)
    print_replies(site)


def seconds_of(site: Site, run: int) -> float:
    query = f"select started, ended from judging_judgerun where id = {run:d}"  # noqa: S608
    [(started, ended)] = site.rows(query)
    begin, end = (datetime.fromisoformat(str(moment)) for moment in (started, ended))
    return (end - begin).total_seconds()


def print_replies(site: Site) -> None:
    query = "select avg(prompt_tokens), avg(completion_tokens) from judging_attempt"
    [(read, written)] = site.rows(query)
    grades = site.rows(
        "select grade, count(*) from annotation_rating group by grade order by grade"
    )
    states = site.rows("select state, count(*) from judging_attempt group by state")
    print(f"tokens of a pair: {float(read):.0f} and {float(written):.0f}; replies: {dict(states)}")
    print(f"grades: {dict(grades)}", flush=True)


def check_run(site: Site, name: str, pairs: int) -> None:
    """Exit with a message unless a judge has exactly one attempt at each pair."""
    of_judge = (
        "from judging_attempt a join judging_judge j on j.id = a.judge_id "
        f"join annotation_rater r on r.id = j.rater_id where r.name = '{name}'"
    )
    attempts = site.one(f"select count(*) {of_judge}")
    pairs_of_judge = f"select distinct text_id, question_id {of_judge}"
    distinct = f"select count(*) from ({pairs_of_judge}) p"  # noqa: S608
    if not attempts == site.one(distinct) == pairs:
        sys.exit(f"{name}: {attempts:,} attempts at {site.one(distinct):,} of {pairs:,} pairs")


def kill_and_resume(site: Site, server: Vllm, options: argparse.Namespace) -> None:
    """Kill the command after half of the pairs, repeat it, and count requests and rows."""
    pairs, attempts = options.pairs, "select count(*) from judging_attempt"
    before, finished_before = site.one(attempts), server.n_replies()
    with CountingProxy(server.address) as proxy:
        process = subprocess.Popen(
            site.judge("kill", proxy.address), env=site.env, cwd=ROOT, stdout=subprocess.PIPE
        )
        until = time.monotonic() + GIVE_UP
        while (stored := site.one(attempts) - before) < pairs / 2:
            if process.poll() is not None or time.monotonic() > until:
                sys.exit("The run ended, or came to nothing, before it could be killed.")
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        stored = site.one(attempts) - before
        began = time.perf_counter()
        outcome = json.loads(site.run(site.judge("kill", proxy.address)))
        seconds = time.perf_counter() - began
    check_run(site, "kill", pairs)
    chats = {digest: n for digest, n in proxy.sent.items() if digest}
    repeated = sum(n - 1 for n in chats.values())
    print(
        f"\nkilled with {stored:,} of {pairs:,} pairs stored; the same command {outcome['state']} the run in "
        f"{seconds:.1f} s, {LEASE} of them for the lease\n"
        f"requests: {sum(chats.values()):,} for {len(chats):,} messages, {repeated:,} repeated; the server "
        f"finished {server.n_replies() - finished_before:,}\n"
        f"rows: {site.one(attempts) - before:,}, one for each pair",
        flush=True,
    )


def work_offline(site: Site, server: Vllm, options: argparse.Namespace) -> None:
    """Export the pairs, grade them without the database, and import the replies."""
    folders = [Path(site.env["VAR_DIR"], name) for name in ("export", "results")]
    export, results = map(str, folders)
    grade = [sys.executable, "-m", "judging.offline.cluster", export, "--out", results, "--no-ray"]
    grade += ["--url", f"{server.address}/v1", "--concurrency", str(options.concurrency)]
    server.empty_cache()
    steps = {
        "judge_export": site.command(
            *("judge_export", SLUG, "--judge", "offline", "--out", export, "--rows", "2000")
        ),
        "judging.offline.cluster": grade,
        "judge_import": site.command("judge_import", SLUG, results),
    }
    print()
    for name, command in steps.items():
        use: list[float] = []
        began = time.perf_counter()
        with gpu_use(use):
            site.run(command)
        seconds = time.perf_counter() - began
        print(
            f"{name:>32} {options.pairs / seconds:>9,.1f} pairs/s ({seconds:.1f} s)"
            + (f", GPU {use[0]:.0f}%" if use else ""),
            flush=True,
        )
    check_run(site, "offline", options.pairs)


def seed(site: Site, options: argparse.Namespace, labels: Sequence[int], hashed: str) -> None:
    """Create the pairs and the judges, which differ in prompt and seed."""
    prompts = options.prompts.split(",")
    names = {f"{prompt}-{n}": prompt for prompt in prompts for n in range(options.rounds)}
    names |= {"kill": prompts[0], "offline": prompts[0]}
    judges = {}
    for number, (name, prompt) in enumerate(names.items()):
        spec = make_spec(options.model, prompt)
        spec = replace(
            spec,
            backend="openai",
            label_ids=tuple(labels),
            template_hash=hashed,
            sampling=replace(spec.sampling, seed=number),
        )
        judges[name] = {**spec.as_json(), "prompt_name": prompt}
    code = (
        "import json, sys; from bench.judge_server_parts import seed; "
        f"seed({SLUG!r}, {options.pairs}, json.loads({json.dumps(judges)!r}))"
    )
    site.run(site.command("migrate", "-v0"))
    site.run(site.command("shell", "-v0", "-c", code))


def smoke() -> str:
    """Seed the pairs and judges on SQLite, without a model server; see bench.smoke."""
    options = argparse.Namespace(prompts="text-first", rounds=1, model="tiny", pairs=20)
    with (
        tempfile.TemporaryDirectory(prefix="crux-bench-") as folder,
        database("sqlite", Path(folder), "") as (url, rows),
    ):
        site = Site(os.environ | {"VAR_DIR": folder, "DATABASE_URL": url}, rows, 1)
        seed(site, options, (), "")
        counts = [
            site.one(f"select count(*) from {table}")  # noqa: S608 - names of tables
            for table in ("annotation_text", "annotation_subquestion", "judging_judge")
        ]
    if counts != [2, QUESTIONS, 3]:
        sys.exit(f"texts, questions and judges: {counts}")
    return "20 pairs and 3 judges seeded; SKIPPED the judging: it needs VLLM=FOLDER MODEL=NAME"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vllm", type=Path, required=True, help="environment with bin/vllm")
    parser.add_argument("--model", required=True, help="a folder or a name that vLLM loads")
    parser.add_argument("--pairs", type=int, default=5_000)
    parser.add_argument("--concurrency", type=int, default=256, help="also --max-num-seqs")
    parser.add_argument("--prompts", default="text-first,question-first")
    parser.add_argument("--rounds", type=int, default=3, help="of the part server")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--serve", default="", help="further options of vllm serve")
    parser.add_argument("--engine-args", default="{}", help="further ones of vllm.LLM, JSON")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--log", type=Path, help="of the server; else in the temporary folder")
    options = parser.parse_args()
    if options.pairs % 10:
        parser.error("--pairs must be a multiple of 10, the questions of a text.")
    # The server starts in another folder.
    options.vllm = options.vllm.expanduser().absolute()
    if Path(options.model).expanduser().is_dir():
        options.model = str(Path(options.model).expanduser().absolute())
    return options


def main() -> None:
    options = parse_arguments()
    parts = options.parts.split(",")
    if "engine" in parts:
        print(f"{'in process':>32} {'pairs/s':>9}")
        for prompt in options.prompts.split(","):
            rates = engine_rates(options, prompt)
            print(f"{prompt + ': LLM.chat':>32} {rates['bare']:>9,.1f}")
            print(f"{'our grader':>32} {rates['ours']:>9,.1f}")
            print(f"{'our grader / LLM.chat':>32} {rates['ratio']:>9.2f}", flush=True)
    if not {"server", "kill", "offline"} & set(parts):
        return
    with (
        tempfile.TemporaryDirectory(prefix="crux-bench-") as folder,
        database(options.database, Path(folder), "crux_bench_judge_server") as (url, rows),
    ):
        server = Vllm(options, options.log or Path(folder, "vllm.log"))
        began = time.perf_counter()
        server.start()
        print(f"\nvllm serve answers after {time.perf_counter() - began:.0f} s", flush=True)
        try:
            judge_at(server, folder, url, rows, options)
        finally:
            server.kill()


def judge_at(
    server: Vllm, folder: str, url: str, rows: Callable, options: argparse.Namespace
) -> None:
    env = os.environ | {
        "VAR_DIR": folder,
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "JUDGE_LEASE_SECONDS": str(LEASE),
    }
    site = Site(env, rows, options.concurrency)
    labels = [str(grade) for grade in make_spec(options.model, "text-first").grades]
    learnt = probe(f"{server.address}/v1", None, options.model, labels=labels)
    seed(site, options, learnt.label_ids, learnt.template_hash)
    # The first requests wait for what the server compiles.
    prompt = options.prompts.split(",")[0]
    warm_up = requests_of(options, prompt, learnt.label_ids)[: 4 * options.concurrency]
    bare_loop(server.address, warm_up, options.concurrency)
    parts = options.parts.split(",")
    if "server" in parts:
        compare_server(site, server, options, list(learnt.label_ids))
    if "kill" in parts:
        kill_and_resume(site, server, options)
    if "offline" in parts:
        work_offline(site, server, options)


if __name__ == "__main__":
    main()
