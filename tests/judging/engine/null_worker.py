"""A worker that can be killed, in a process of its own.

Its grader knows nothing and answers at once. What it is sent it writes into a file of its own first,
so that a pair that was sent and lost with the process is seen as well. It asks on only while fewer
pairs were sent in all than `allow` says, so that a run is not over before its workers are killed.
"""

import os
import struct
import time
from pathlib import Path

from judging.engine.fill import pump
from judging.execution.leases import any_free, worker_name
from judging.grading.pairs import Reply, State
from judging.models import JudgeRun

PAIR = struct.Struct("qq")
SENT, ALLOWED = "*.sent", "allowed"


def n_sent(folder: Path) -> int:
    """Pairs that any worker was sent, twice sent ones twice."""
    return sum(file.stat().st_size for file in folder.glob(SENT)) // PAIR.size


def allow(folder: Path, number: int) -> None:
    written = folder / "allowed.new"
    written.write_text(str(number))
    written.replace(folder / ALLOWED)


class NullGrader:
    def __init__(self, in_flight: int, folder: Path) -> None:
        self.in_flight, self.folder = in_flight, folder
        log_path = folder / SENT.replace("*", str(os.getpid()))
        self.sent = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def must_wait(self) -> bool:
        return n_sent(self.folder) >= int((self.folder / ALLOWED).read_text())

    def replies(self, pairs):
        pending = []
        for pair in pairs:
            while not pending and self.must_wait():
                time.sleep(0.02)
                yield None  # a sign of life, which keeps the lease
            os.write(self.sent, PAIR.pack(pair.text_id, pair.question_id))
            pending.append(pair)
            if len(pending) == self.in_flight:
                for held_pair in pending:
                    yield Reply(
                        held_pair,
                        State.GRADED,
                        (held_pair.text_id + held_pair.question_id) % 6,
                        raw="0",
                    )
                pending = []
        for held_pair in pending:
            yield Reply(
                held_pair, State.GRADED, (held_pair.text_id + held_pair.question_id) % 6, raw="0"
            )


def main(run_id: int, batch: int, in_flight: int, folder: Path) -> None:
    run = JudgeRun.objects.select_related("judge__rater", "judge__rubric").get(pk=run_id)
    grader = NullGrader(in_flight, folder)
    while run.is_running:
        if any_free(run):
            pump(run, grader, worker_name(), batch=batch)
        else:
            time.sleep(0.1)
        run.refresh_from_db()
