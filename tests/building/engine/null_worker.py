"""A worker that can be killed, in a process of its own.

Its writer answers at once, `IN_FLIGHT` orders together, and writes into a file of its own what it was
asked before it does; it waits while more was asked than `allow` says, so that it can be killed at work.
"""

import os
import time
from pathlib import Path

from building.engine.fill import pump
from building.models import Writing
from building.writers.base import Outcome
from judging.execution.leases import any_free, worker_name

SENT, ALLOWED = "*.sent", "allowed"


def sent(folder: Path) -> list[int]:
    """Orders that any worker was asked for, twice asked ones twice."""
    return [int(line) for file in folder.glob(SENT) for line in file.read_text().split()]


def allow(folder: Path, number: int) -> None:
    written = folder / "allowed.new"
    written.write_text(str(number))
    written.replace(folder / ALLOWED)


class NullWriter:
    def __init__(self, folder: Path, in_flight: int) -> None:
        self.folder, self.in_flight = folder, in_flight
        self.file = folder / SENT.replace("*", str(os.getpid()))

    def outcomes(self, asks):
        batch = []
        for ask in asks:
            with self.file.open("a") as file:
                file.write(f"{ask.order}\n")
            batch.append(ask)
            if len(batch) < self.in_flight:
                continue
            while len(sent(self.folder)) > int((self.folder / ALLOWED).read_text()):
                time.sleep(0.01)
                yield None
            yield from (
                Outcome(queued, raw=reply(queued.order), finish_reason="stop") for queued in batch
            )
            batch = []
        yield from (
            Outcome(queued, raw=reply(queued.order), finish_reason="stop") for queued in batch
        )


def reply(order: int) -> str:
    return f"<q>What did ship{order} do?</q><q>Who saw harbour{order}?</q>"


def main(run_id: int, folder: Path, in_flight: int) -> None:
    run = Writing.objects.select_related("writer", "dataset").get(pk=run_id)
    writer = NullWriter(folder, in_flight)
    while run.is_running:
        if any_free(run):
            pump(run, writer, worker_name())
        else:
            time.sleep(0.05)
        run.refresh_from_db()
