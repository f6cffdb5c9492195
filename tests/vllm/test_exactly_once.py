"""A thousand pairs at a real vLLM server, while server and workers are killed.

Everything is killed with SIGKILL, so nothing gets to tidy up. In the end each pair has exactly one
attempt, and the server was asked twice only about what was in flight when somebody died.
"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.serving import ROOT
from tests.toolbox.counting_proxy import CountingProxy
from tests.toolbox.empty_site import manage
from tests.vllm.material import CONCURRENCY, PAIRS, SLUG

WORKERS = 2
ROUNDS = (125, 250, 375, 625, 750)  # stored replies after which all workers are killed
SERVER_DIES_AT = 500
TIMEOUT = 900  # seconds until a test gives up waiting


class Worker:
    """`manage.py judge --join` in a process of its own."""

    def __init__(self, env: dict[str, str], run: int, log: Path) -> None:
        self.log = log
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "judge", SLUG, "--join", str(run), "-v0"],
                env=env,
                cwd=ROOT,
                stdout=file,
                stderr=file,
            )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(20)

    def has_written(self, rows) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"a worker ended by itself:\n{self.log.read_text()[-4_000:]}")
        return (
            rows(
                f"select 1 from judging_batch where worker like '%:{self.process.pid}' limit 1"  # noqa: S608
            )
            != []
        )


def wait_for_replies(workers: list[Worker], rows, number: int) -> None:
    """Wait until so many replies are stored, and each worker has stored some."""
    until = time.monotonic() + TIMEOUT
    while not (
        all(worker.has_written(rows) for worker in workers)
        and rows("select count(*) from judging_attempt")[0][0] >= number
    ):
        if time.monotonic() > until:
            pytest.fail(f"after {TIMEOUT} s still waiting for {number} replies")
        time.sleep(0.05)


def test_pairs_have_one_attempt_despite_kills(site, server, tmp_path, record_property):
    env, rows = site
    with CountingProxy(server.address) as proxy:
        manage(
            env, "shell", "-v0", "-c", f"from tests.vllm.material import *; seed({proxy.address!r})"
        )
        proxy.sent.clear()
        [(run,)] = rows("select id from judging_judgerun")
        log = tmp_path / "workers.log"
        workers = [Worker(env, run, log) for _ in range(WORKERS)]
        killed = 0
        try:
            for mark in sorted([*ROUNDS, SERVER_DIES_AT]):
                wait_for_replies(workers, rows, mark)
                if mark == SERVER_DIES_AT:
                    server.kill()
                    server.start()
                    continue
                for worker in workers:
                    worker.kill()
                    killed += 1
                workers = [Worker(env, run, log) for _ in range(WORKERS)]
            for worker in workers:
                assert worker.process.wait(TIMEOUT) == 0, log.read_text()[-4_000:]
        finally:
            for worker in workers:
                worker.kill()
    assert killed == 10

    assert rows("select state from judging_judgerun") == [("finished",)]
    assert rows("select distinct state from judging_shard") == [("done",)]
    assert rows("select count(*) from judging_attempt") == [(PAIRS,)]
    assert rows("select count(*) from judging_attempt where counts") == [(PAIRS,)]
    pairs = "select distinct text_id, question_id from judging_attempt where counts"
    assert len(rows(pairs)) == PAIRS

    # Neither the dead server nor the dead workers became anybody's failure.
    assert rows("select count(*) from judging_attempt where state = 'error'") == [(0,)]
    wrong = (
        "select count(*) from judging_attempt a left join annotation_rating r"
        " on r.text_id = a.text_id and r.question_id = a.question_id"
        " where (a.state = 'graded') <> (r.id is not null) or a.grade <> r.grade"
    )
    assert rows(wrong) == [(0,)]
    assert rows("select count(*) from annotation_rating") == rows(
        "select count(*) from judging_attempt where state = 'graded'"
    )

    hashes = {digest for (digest,) in rows("select prompt_hash from judging_attempt")}
    assert len(hashes) == PAIRS
    assert all(proxy.sent[digest] for digest in hashes)
    # In flight, and come but not yet written: of each worker that died, and of each at the dead server.
    at_risk = killed * 2 * CONCURRENCY + WORKERS * CONCURRENCY
    n_repeated = [proxy.sent[digest] - 1 for digest in hashes]
    record_property("sent again", sum(n_repeated))
    assert sum(n_repeated) <= at_risk

    # What was asked, and what came back, is exact: six probabilities of the six digits.
    [(labels,)] = rows("select label_ids from judging_judge")
    labels = json.loads(labels) if isinstance(labels, str) else labels
    assert len(labels) == 6
    assert {tuple(proxy.parameters[digest]["logprob_token_ids"]) for digest in hashes} == {
        tuple(labels)
    }
    # A random model seldom gives the grades the half that a distribution needs.
    assert rows("select count(*) from judging_attempt where label_mass < 0.5") == [(0,)]
    assert rows("select count(*) from judging_attempt where label_mass > 1") == [(0,)]
    grades = {grade for (grade,) in rows("select distinct grade from annotation_rating")}
    assert len(grades) > 2
