"""python -m tests.judging.engine.null_worker RUN BATCH IN_FLIGHT FOLDER: a worker that can be killed.

Its grader knows nothing and answers at once. What it is sent it writes into a file of its own first,
so that a pair that was sent and lost with the process is seen as well. It asks on only while fewer
pairs were sent in all than `allow` says, so that a run is not over before its workers are killed.
"""

import os
import struct
import sys
import time
from pathlib import Path

import django

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
        own = folder / SENT.replace("*", str(os.getpid()))
        self.sent = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def wait_for_leave(self) -> None:
        while n_sent(self.folder) >= int((self.folder / ALLOWED).read_text()):
            time.sleep(0.01)

    def replies(self, pairs):
        from judging.grading.pairs import Reply, State  # noqa: PLC0415

        held = []
        for pair in pairs:
            if not held:
                self.wait_for_leave()
            os.write(self.sent, PAIR.pack(pair.text_id, pair.question_id))
            held.append(pair)
            if len(held) == self.in_flight:
                for held_pair in held:
                    yield Reply(
                        held_pair,
                        State.GRADED,
                        (held_pair.text_id + held_pair.question_id) % 6,
                        raw="0",
                    )
                held = []
        for held_pair in held:
            yield Reply(
                held_pair, State.GRADED, (held_pair.text_id + held_pair.question_id) % 6, raw="0"
            )


def main(run_id: int, batch: int, in_flight: int, folder: Path) -> None:
    from judging.engine.fill import pump  # noqa: PLC0415 - needs Django set up
    from judging.engine.leases import any_free, worker_name  # noqa: PLC0415
    from judging.models import JudgeRun  # noqa: PLC0415

    run = JudgeRun.objects.select_related("judge__rater", "judge__rubric").get(pk=run_id)
    grader = NullGrader(in_flight, folder)
    while run.is_running:
        if any_free(run):
            pump(run, grader, worker_name(), batch=batch)
        else:
            time.sleep(0.2)
        run.refresh_from_db()


if __name__ == "__main__":
    django.setup()
    number, batch, in_flight, folder = sys.argv[1:]
    main(int(number), int(batch), int(in_flight), Path(folder))
