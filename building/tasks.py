"""Background tasks of generation runs."""

from __future__ import annotations

from django_tasks import task

from building.engine import writings
from building.engine.choosing import backend_of
from building.engine.fill import pump
from building.models import Writing
from judging.execution import states
from judging.execution.background import QUEUE, TURN, Background
from judging.execution.leases import any_free, worker_name
from judging.llm.errors import BackendError


@task(queue_name=QUEUE)
def write(run_id: int) -> None:
    """Work on a generation run for one turn, and enqueue the next turn if needed."""
    run = Writing.objects.select_related("writer", "dataset").get(pk=run_id)
    worker = worker_name()
    if run.is_running and any_free(run):
        # A model that is loaded into this process stays at its writing.
        seconds = None if run.writer.is_in_process else TURN
        try:
            # A worker between two turns holds no lease, and its next turn waits in the queue.
            with states.giving_up(run, worker, lambda: WRITING.alive(run).count() > 1):
                pump(run, backend_of(run), worker, seconds=seconds)
        except BackendError:
            return  # the writing says why
    else:
        writings.finish_if_done(run)
    WRITING.requeue(run)


@task(queue_name=QUEUE)
def watch(run_id: int) -> None:
    WRITING.check_workers(run_id)


WRITING = Background(Writing, write, watch)
