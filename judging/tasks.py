"""Judge runs in the background."""

from __future__ import annotations

from django_tasks import task

from judging.engine import runs, states
from judging.engine.background import QUEUE, TURN, Background
from judging.engine.choosing import grader_of
from judging.engine.fill import pump
from judging.engine.leases import any_free, worker_name
from judging.engine.planning import PlannedElsewhere, plan
from judging.graders.base import GraderError
from judging.models import Judge, JudgeRun


@task(queue_name=QUEUE)
def work(run_id: int) -> None:
    """Plan a run if that is to do, then pump it for a while, and come back if there is more."""
    run = JudgeRun.objects.select_related("judge__rater", "judge__rubric", "dataset").get(pk=run_id)
    worker = worker_name()
    if run.state == JudgeRun.State.PLANNING:
        try:
            with states.giving_up(run, worker):
                plan(run, worker)
        except PlannedElsewhere:
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
        except GraderError:
            return  # the run says why
    else:
        runs.finish_if_done(run)
    JUDGING.come_back(run)


@task(queue_name=QUEUE)
def watch(run_id: int) -> None:
    JUDGING.look_after(run_id)


JUDGING = Background(JudgeRun, work, watch)
