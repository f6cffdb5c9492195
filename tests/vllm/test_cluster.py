"""Real Ray cluster with a real vLLM server: pairs come back exactly once.

A grader of the cluster is killed with SIGKILL, and later the whole job; the same command goes on.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.toolbox.counting_proxy import CountingProxy
from tests.toolbox.empty_site import manage
from tests.vllm.material import CONCURRENCY, PAIRS, SLUG
from tests.vllm.server import PYTHON, ROOT

WORKERS = 2
ROWS = 20  # pairs of a file: two texts
LOT = (
    PAIRS // ROWS // (WORKERS * 4)
)  # files that a grader holds at once: judging.offline.cluster's LOTS
TIMEOUT = 600  # seconds


def parents() -> dict[int, int]:
    """The parent of each process of this machine."""
    parent_of = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent_of[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
    return parent_of


def below(pid: int) -> set[int]:
    """All processes that this one and its children started."""
    parent_of = parents()
    pids: set[int] = set()
    more = {pid}
    while more:
        more = {child for child, parent in parent_of.items() if parent in more} - pids
        pids |= more
    return pids


def graders(pid: int) -> list[int]:
    """The processes of Ray that hold a grader."""
    pids = []
    for child in below(pid):
        try:
            command_line = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if command_line.startswith(b"ray::") and b"_Worker" in command_line:
            pids.append(child)
    return pids


def end(pids: set[int]) -> None:
    """Kill what is left of these, and wait until none is there."""
    until = time.monotonic() + 60
    while alive := [pid for pid in pids if Path(f"/proc/{pid}").exists() and not is_dead(pid)]:
        assert time.monotonic() < until, alive
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.1)


def is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Cluster:
    """`python -m judging.offline.cluster`, with a Ray of its own."""

    def __init__(self, export: Path, results: Path, url: str, ray: str) -> None:
        self.results = results
        self.log = results.with_suffix(".log")
        self.command = [
            PYTHON,
            "-m",
            "judging.offline.cluster",
            export,
            "--out",
            results,
            "--url",
            url,
        ]
        self.command += ["--workers", str(WORKERS), "--concurrency", str(CONCURRENCY)]
        self.env = os.environ | {
            "RAY_TMPDIR": ray,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "disabled",  # a token would be written into the home folder
        }
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*map(str, self.command)], env=self.env, cwd=ROOT, stdout=log, stderr=log
            )

    def wait_for(self, files: int) -> None:
        """Until so many files are whole, while the job goes on."""
        until = time.monotonic() + TIMEOUT
        while len(list(self.results.glob("results-*.parquet"))) < files:
            assert self.process.poll() is None, self.tail()
            assert time.monotonic() < until, self.tail()
            time.sleep(0.05)

    def kill_a_grader(self) -> None:
        until = time.monotonic() + TIMEOUT
        while not (pids := graders(self.process.pid)):  # Ray may just be starting another
            assert time.monotonic() < until, self.tail()
            time.sleep(0.05)
        os.kill(pids[0], signal.SIGKILL)

    def kill(self) -> None:
        """The job first, so that it cannot tidy up, and then its Ray."""
        everything = below(self.process.pid)
        self.process.kill()
        self.process.wait(20)
        end(everything)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-4_000:]


@pytest.fixture
def ray():
    """A folder with a short name: Ray's sockets lie in it, and their names may not be long."""
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        yield folder


def test_cluster_that_is_killed_goes_on_and_gives_each_pair_back_once(
    site, server, ray, tmp_path, record_property
):
    env, rows = site
    export, results = tmp_path / "export", tmp_path / "results"
    with CountingProxy(server.address) as proxy:
        code = f"from tests.vllm.material import *; study({proxy.address!r})"
        manage(env, "shell", "-v0", "-c", code)
        proxy.sent.clear()
        export_arguments = ["judge_export", SLUG, "--judge", "tiny", "--out", str(export)]
        report = json.loads(manage(env, *export_arguments, "--rows", str(ROWS), "--json"))
        assert (report["files"], report["pairs"]) == (PAIRS // ROWS, PAIRS)

        cluster = Cluster(export, results, f"{proxy.address}/v1", ray)
        try:
            cluster.start()
            cluster.wait_for(4)
            cluster.kill_a_grader()
            cluster.wait_for(16)
            cluster.kill()
            assert len(list(results.glob("results-*.parquet"))) < PAIRS // ROWS
            cluster.start()
            assert cluster.process.wait(TIMEOUT) == 0, cluster.tail()
        finally:
            cluster.kill()

    imports = [json.loads(manage(env, "judge_import", SLUG, str(results), "--json")) for _ in "12"]
    assert [(report["new"], report["there_before"]) for report in imports] == [
        (PAIRS, 0),
        (0, PAIRS),
    ]
    assert rows("select state from judging_judgerun") == [("finished",)]
    assert rows("select count(*) from judging_attempt") == [(PAIRS,)]
    pairs = "select distinct text_id, question_id from judging_attempt where counts"
    assert len(rows(pairs)) == PAIRS
    assert rows("select count(*) from judging_attempt where state = 'error'") == [(0,)]
    assert rows("select count(*) from annotation_rating") == rows(
        "select count(*) from judging_attempt where state = 'graded'"
    )

    hashes = {digest for (digest,) in rows("select prompt_hash from judging_attempt")}
    assert len(hashes) == PAIRS
    assert all(proxy.sent[digest] for digest in hashes)
    # A grader that is killed loses the files that it holds, where they are not whole yet.
    n_repeated = sum(proxy.sent[digest] - 1 for digest in hashes)
    record_property("sent again", n_repeated)
    assert n_repeated <= (1 + WORKERS) * LOT * ROWS
