"""Many processes on one run, killed at random: no pair is stored twice, or lost.

On PostgreSQL ten workers share 50,000 pairs in 100 shards, on SQLite three share 20,000 in 40. The run is
separated by the kills: a worker is killed in the middle of each part, while the others go on to the end of the
part, and no further. So each kill strikes at work, however fast the machine is.
"""

import random

import pytest
from django.db import connection

from annotation.models import Rating
from judging.engine import planning
from judging.models import Attempt, JudgeRun
from tests.judging.engine import null_worker
from tests.judging.engine.null_worker import PAIR, SENT, allow, n_sent
from tests.toolbox import worker_processes
from tests.toolbox.clock import HANGS, wait_for
from tests.toolbox.judging_study import a_judge, make_large_study, planned, planned_pairs

BATCH, IN_FLIGHT, SHARD = 64, 16, 500
LEASE = 5  # seconds


class Workers:
    def __init__(self, run: JudgeRun, number: int, folder) -> None:
        self.work = null_worker.main, run.pk, BATCH, IN_FLIGHT, folder
        self.processes = [self.start() for _ in range(number)]

    def start(self):
        return worker_processes.start(*self.work, JUDGE_LEASE_SECONDS=LEASE)

    def kill_one(self) -> None:
        index = random.randrange(len(self.processes))
        self.processes[index].kill()
        self.processes[index].join()
        self.processes[index] = self.start()

    def wait(self) -> list[int | None]:
        """Return the exit code of each; None where it has not ended."""
        for process in self.processes:
            process.join(HANGS)
        return [process.exitcode for process in self.processes]

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.join()


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_workers_that_are_killed_lose_nothing_and_store_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "SHARD", SHARD)
    is_large = connection.vendor == "postgresql"
    number, topics, kills = (10, 125, 12) if is_large else (3, 50, 4)
    n_pairs = topics * 40 * 10
    judge = a_judge()
    run = planned(judge, make_large_study(topics, texts=40, questions=10))
    assert run.n_planned == n_pairs
    assert run.shards.count() == (100 if is_large else 40)
    pairs = planned_pairs(run)
    assert len(pairs) == len(set(pairs)) == n_pairs

    part = n_pairs // (kills + 1)
    allow(tmp_path, part)
    workers = Workers(run, number, tmp_path)
    try:
        for kill in range(kills):
            half = part * kill + part // 2
            wait_for(lambda half=half: n_sent(tmp_path) >= half)
            workers.kill_one()
            allow(tmp_path, part * (kill + 2))
        allow(tmp_path, 2 * n_pairs)
        ended = workers.wait()
    finally:
        workers.end()

    assert ended == [0] * number
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
