"""Many processes on one run, killed at random: no pair is planned twice, stored twice, or lost.

On PostgreSQL ten workers share 200,000 pairs, on SQLite three share 20,000. The run is parted by the
kills: a worker is killed in the middle of each part, while the others go on to the end of the part,
and no further. So each kill strikes at work, however fast the machine is.
"""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from django.db import connection

from annotation.models import Rating
from judging.models import Attempt, JudgeRun
from tests.judging.engine.material import (
    ROOT,
    a_judge,
    environment,
    make_large_study,
    planned,
    planned_pairs,
)
from tests.judging.engine.null_worker import PAIR, SENT, allow, n_sent

BATCH, IN_FLIGHT = 256, 64
PATIENCE = 400  # seconds, after which something is wrong


class Workers:
    def __init__(self, run: JudgeRun, number: int, folder) -> None:
        command = [sys.executable, "-m", "tests.judging.engine.null_worker"]
        self.command = [*command, *map(str, (run.pk, BATCH, IN_FLIGHT, folder))]
        self.env = environment(JUDGE_LEASE_SECONDS="10")
        self.processes = [self.start() for _ in range(number)]

    def start(self) -> subprocess.Popen:
        return subprocess.Popen(self.command, env=self.env, cwd=ROOT, stderr=subprocess.PIPE)

    def kill_one(self) -> None:
        index = random.randrange(len(self.processes))
        os.kill(self.processes[index].pid, signal.SIGKILL)
        self.processes[index].wait()
        self.processes[index] = self.start()

    def wait(self) -> list[bytes]:
        """What those that did not end well had to say."""
        complaints = [process.communicate(timeout=PATIENCE)[1] for process in self.processes]
        return [
            words
            for words, process in zip(complaints, self.processes, strict=True)
            if process.returncode
        ]

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
def test_workers_that_are_killed_lose_nothing_and_store_nothing_twice(tmp_path):
    is_large = connection.vendor == "postgresql"
    number, topics, kills = (10, 500, 12) if is_large else (3, 50, 4)
    n_pairs = topics * 40 * 10
    judge = a_judge()
    run = planned(judge, make_large_study(topics, texts=40, questions=10))
    assert run.n_planned == n_pairs
    pairs = planned_pairs(run)
    assert len(pairs) == len(set(pairs)) == n_pairs

    part = n_pairs // (kills + 1)
    allow(tmp_path, part)
    workers = Workers(run, number, tmp_path)
    until = time.monotonic() + PATIENCE
    try:
        for kill in range(kills):
            while n_sent(tmp_path) < part * kill + part // 2:
                assert time.monotonic() < until
                time.sleep(0.01)
            workers.kill_one()
            allow(tmp_path, part * (kill + 2))
        allow(tmp_path, 2 * n_pairs)
        complaints = workers.wait()
    finally:
        workers.end()

    assert complaints == []
    assert JudgeRun.objects.get(pk=run.pk).state == "finished"
    assert set(run.shards.values_list("state", flat=True)) == {"done"}
    counted = Attempt.objects.filter(judge=judge, counts=True, state="graded")
    grades = {(t, q): g for t, q, g in counted.values_list("text_id", "question_id", "grade")}
    assert grades.keys() == set(pairs)
    assert Attempt.objects.count() == n_pairs
    ratings = Rating.objects.filter(rater=judge.rater).values_list(
        "text_id", "question_id", "grade"
    )
    assert {(text, question): grade for text, question, grade in ratings} == grades
    assert Rating.objects.count() == n_pairs
    assert sum(run.batches.values_list("n_attempts", flat=True)) == n_pairs
    sent = [pair for file in tmp_path.glob(SENT) for pair in PAIR.iter_unpack(file.read_bytes())]
    assert set(sent) == set(pairs)
    assert len(sent) - n_pairs <= kills * (BATCH + IN_FLIGHT)
