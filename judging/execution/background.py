"""Background workers of runs, woken by a task queue.

Each task works for one turn at the parts that are free. The queue only wakes workers; what is to do is
in our own rows. A worker that is killed leaves its task running for ever in the queue's table, and its
parts free when their leases run out: `revive` then wakes another, when somebody looks at the run, or a
worker starts, or `watch` has its turn.
"""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult

from judging.execution.leases import any_free, leased
from judging.execution.models import ModelRun

QUEUE = "judging"
TURN = 60  # seconds; then another run has its turn
ACTIVE_STATES = (ModelRun.State.PLANNING, ModelRun.State.RUNNING)


class Background:
    """Tasks of one kind of run: `work` takes a turn at a run, `watch` calls `look_after`.

    Each instance adds itself to `registered`, so that a worker that starts revives them all.
    """

    registered: ClassVar[list[Background]] = []

    def __init__(self, model: type[ModelRun], work: Task, watch: Task) -> None:
        self.model, self.work, self.watch = model, work, watch
        self.registered.append(self)

    def wake(self, run: ModelRun) -> None:
        """Enqueue worker tasks for a run that was started or resumed."""
        n = 1 if run.state == ModelRun.State.PLANNING else run.workers
        for _ in range(n):
            self.work.enqueue(run.pk)
        self._keep_watch(run)

    def requeue(self, run: ModelRun) -> None:
        """Enqueue the next turn after this one, if the run goes on and no task replaces it."""
        if not run.is_running:
            return
        if self.alive(run).count() > run.workers:  # this one is among them
            return  # the run was paused and resumed during this turn, and others have come for it
        # What is left may all be lent to others: look again when their leases would have run out.
        _enqueue_after(self.work, run.pk, 0 if any_free(run) else settings.JUDGE_LEASE_SECONDS)

    def check_workers(self, run_id: int) -> None:
        """Revive a run whose workers were killed; called at intervals while it goes on."""
        run = self._active_runs().filter(pk=run_id).first()
        if run:
            self.revive(run)

    def revive(self, run: ModelRun) -> bool:
        """Wake a worker for a run that goes on while nobody works at it.

        Returns whether it did.

        A task counts as alive while it waits, or where it began so lately that it may have no lease yet.
        """
        if run.state not in ACTIVE_STATES:
            return False
        if run.is_being_planned() or leased(run).exists() or self.alive(run).exists():
            self._keep_watch(run)
            return False
        self.wake(run)
        return True

    def revive_all(self) -> list[ModelRun]:
        """Wake workers for every open run that nobody works at; return those runs."""
        return [run for run in self._active_runs() if self.revive(run)]

    def waiting(self) -> list[ModelRun]:
        """Return the open runs at which no worker works."""
        runs = self._active_runs()
        return [run for run in runs if not run.is_being_planned() and not leased(run).exists()]

    def alive(self, run: ModelRun) -> QuerySet[DBTaskResult]:
        """Return the tasks that wait or work at the run.

        A task that began long ago may have died with its worker.
        """
        lately = timezone.now() - timedelta(seconds=settings.JUDGE_LEASE_SECONDS)
        alive = Q(status=TaskResultStatus.READY) | Q(
            status=TaskResultStatus.RUNNING, started_at__gte=lately
        )
        return _tasks(self.work, run).filter(alive)

    def _active_runs(self) -> QuerySet[ModelRun]:
        return self.model._default_manager.filter(state__in=ACTIVE_STATES)

    def _keep_watch(self, run: ModelRun) -> None:
        if not _tasks(self.watch, run).filter(status=TaskResultStatus.READY).exists():
            _enqueue_after(self.watch, run.pk, settings.JUDGE_LEASE_SECONDS)


def _tasks(of: Task, run: ModelRun) -> QuerySet[DBTaskResult]:
    return DBTaskResult.objects.filter(task_path=of.module_path, args_kwargs__args=[run.pk])


def _enqueue_after(task: Task, run_id: int, seconds: float) -> None:
    task.using(run_after=timezone.now() + timedelta(seconds=seconds)).enqueue(run_id)
