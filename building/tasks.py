"""Writings in the background."""

from __future__ import annotations

from django_tasks import task

from building.engine import writings
from building.engine.choosing import at_work
from building.engine.fill import pump
from building.models import Writing
from judging.engine import states
from judging.engine.background import QUEUE, TURN, Background
from judging.engine.leases import any_free, worker_name
from judging.graders.base import GraderError


@task(queue_name=QUEUE)
def write(run_id: int) -> None:
    """Pump a writing for a while, and come back if there is more."""
    run = Writing.objects.select_related("writer", "dataset").get(pk=run_id)
    worker = worker_name()
    if run.is_running and any_free(run):
        # A model that is loaded into this process stays at its writing.
        seconds = None if run.writer.is_in_process else TURN
        try:
            # A worker between two turns holds no lease, and its next turn waits in the queue.
            with states.giving_up(run, worker, lambda: WRITING.alive(run).count() > 1):
                pump(run, at_work(run), worker, seconds=seconds)
        except GraderError:
            return  # the writing says why
    else:
        writings.finish_if_done(run)
    WRITING.come_back(run)


@task(queue_name=QUEUE)
def watch(run_id: int) -> None:
    WRITING.look_after(run_id)


WRITING = Background(Writing, write, watch)
