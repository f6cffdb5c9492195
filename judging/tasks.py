"""Judge runs in the background: each task is a short pump over leased shards.

The queue only wakes workers; what is to do stands in our own rows. A worker that is killed leaves its
task running for ever in the queue's table, and its shards free when their leases run out: `revive`
then wakes another, when somebody looks at the run, or a worker starts, or `watch` has its turn.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django_tasks import TaskResultStatus, task
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult

from judging.engine import runs
from judging.engine.choosing import grader_of
from judging.engine.fill import pump
from judging.engine.leases import any_free, held, worker_name
from judging.engine.planning import PlannedElsewhere, plan
from judging.graders.base import GraderError
from judging.models import Judge, JudgeRun, Shard

QUEUE = "judging"
TURN = 60  # seconds; then another run has its turn
GOING = (JudgeRun.State.PLANNING, JudgeRun.State.RUNNING)


@task(queue_name=QUEUE)
def work(run_id: int) -> None:
    """Plan a run if that is to do, then pump it for a while, and come back if there is more."""
    run = JudgeRun.objects.select_related("judge__rater", "judge__rubric", "dataset").get(pk=run_id)
    worker = worker_name()
    if run.state == JudgeRun.State.PLANNING:
        try:
            with runs.giving_up(run, worker):
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
            with runs.giving_up(run, worker, lambda: _alive(run).count() > 1):
                grader, batch = grader_of(run)
                pump(run, grader, worker, batch=batch, seconds=seconds)
        except GraderError:
            return  # the run says why
    else:
        runs.finish_if_done(run)
    if not run.is_running:
        return
    if _alive(run).count() > run.workers:  # this one is among them
        return  # the run was paused and resumed during this turn, and others have come for it
    # What is left may all be lent to others: look again when their leases would have run out.
    _enqueue_after(work, run.pk, 0 if any_free(run) else settings.JUDGE_LEASE_SECONDS)


@task(queue_name=QUEUE)
def watch(run_id: int) -> None:
    """Look after a run while it goes on, in case its workers are killed and nobody sees it."""
    run = JudgeRun.objects.filter(pk=run_id, state__in=GOING).first()
    if run:
        revive(run)


def wake(run: JudgeRun) -> None:
    """Ask workers to take part in a run that was started or resumed."""
    n = 1 if run.state == JudgeRun.State.PLANNING else run.workers
    for _ in range(n):
        work.enqueue(run.pk)
    _keep_watch(run)


def revive(run: JudgeRun) -> bool:
    """Wake a worker for a run that goes on while nobody works at it; returns whether it did.

    A task counts as alive while it waits, or where it began so lately that it may have no lease yet.
    """
    if run.state not in GOING:
        return False
    if _is_held(run) or _alive(run).exists():
        _keep_watch(run)
        return False
    wake(run)
    return True


def revive_all() -> list[JudgeRun]:
    """Wake workers for every run that is open and that nobody works at; returns those runs."""
    going = JudgeRun.objects.filter(state__in=GOING)
    return [run for run in going if revive(run)]


def _is_held(run: JudgeRun) -> bool:
    """Whether somebody plans the run, or has leases of it, or did so shortly before."""
    planned = JudgeRun.objects.filter(
        pk=run.pk, state=JudgeRun.State.PLANNING, planning_until__gte=Now()
    )
    return planned.exists() or Shard.objects.filter(held(run)).exists()


def _alive(run: JudgeRun) -> QuerySet[DBTaskResult]:
    """Tasks that wait or work at the run; one that began long ago may have died with its worker."""
    lately = timezone.now() - timedelta(seconds=settings.JUDGE_LEASE_SECONDS)
    alive = Q(status=TaskResultStatus.READY) | Q(
        status=TaskResultStatus.RUNNING, started_at__gte=lately
    )
    return _tasks(work, run).filter(alive)


def _keep_watch(run: JudgeRun) -> None:
    if not _tasks(watch, run).filter(status=TaskResultStatus.READY).exists():
        _enqueue_after(watch, run.pk, settings.JUDGE_LEASE_SECONDS)


def _tasks(of: Task, run: JudgeRun) -> QuerySet[DBTaskResult]:
    return DBTaskResult.objects.filter(task_path=of.module_path, args_kwargs__args=[run.pk])


def _enqueue_after(what: Task, run_id: int, seconds: float) -> None:
    what.using(run_after=timezone.now() + timedelta(seconds=seconds)).enqueue(run_id)
