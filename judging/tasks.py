"""Background tasks of judge runs."""

from __future__ import annotations

from django_tasks import task

from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.grader_choice import grader_of
from judging.engine.planning import plan
from judging.execution import states
from judging.execution.background import QUEUE, TURN, Background
from judging.execution.leases import any_free, worker_name
from judging.execution.states import PlanningConflictError
from judging.llm.errors import BackendError
from judging.models import Judge, JudgeRun


@task(queue_name=QUEUE)
def work(run_id: int) -> None:
    """Plan a run if necessary, work on it for one turn, and enqueue the next turn."""
    run = JudgeRun.objects.select_related("judge__rater", "judge__rubric", "dataset").get(pk=run_id)
    worker = worker_name()
    if run.state == JudgeRun.State.PLANNING:
        try:
            with states.giving_up(run, worker):
                plan(run, worker)
        except PlanningConflictError:
            return
        for _ in range(run.workers - 1):
            work.enqueue(run.pk)
    if run.is_running and any_free(run):
        # A model that is loaded into this process stays at its run.
        seconds = None if run.judge.backend == Judge.Backend.VLLM else TURN
        try:
            # A worker between two turns holds no lease, and its next turn waits in the queue.
            with states.giving_up(run, worker, lambda: JUDGING.alive(run).count() > 1):
                grader, batch = grader_of(run)
                pump(run, grader, worker, batch=batch, seconds=seconds)
        except BackendError:
            return  # the run says why
    else:
        runs.finish_if_done(run)
    JUDGING.requeue(run)


@task(queue_name=QUEUE)
def watch(run_id: int) -> None:
    JUDGING.check_workers(run_id)


JUDGING = Background(JudgeRun, work, watch)
