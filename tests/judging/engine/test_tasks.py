"""Runs in the background, with real workers: one that is killed is followed by another."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from judging import tasks
from judging.engine import runs
from judging.engine.judges import baseline_of
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.execution import leases
from judging.models import Attempt, JudgeRun
from judging.tasks import JUDGING
from tests.judging.engine.processes import (
    manage,
    stand_in_judge,
    state_of,
)
from tests.toolbox import worker_processes
from tests.toolbox.clock import HANGS, wait_for
from tests.toolbox.judging_study import WORKER, a_judge, agrees, all_pairs, counted, make_study
from tests.toolbox.mock_server import slow_server

LEASE = 3  # seconds


def a_worker(folder, *options):
    """judge_worker in a process that can be killed; what it says is in the file `said`."""
    arguments = folder / "said", "judge_worker", *options
    return worker_processes.start(worker_processes.command, *arguments, JUDGE_LEASE_SECONDS=LEASE)


@pytest.fixture
def run(db):
    return runs.start(a_judge(), make_study(), Selection(), workers=3)


def queued(of=tasks.work):
    return DBTaskResult.objects.filter(
        task_path=of.module_path, status=TaskResultStatus.READY
    ).count()


def all_ended(**fields):
    DBTaskResult.objects.update(status=TaskResultStatus.SUCCESSFUL, **fields)


def test_run_to_plan_wakes_one_worker_and_a_planned_one_as_many_as_it_wants(run):
    JUDGING.wake(run)
    assert (queued(), queued(tasks.watch)) == (1, 1)
    JudgeRun.objects.filter(pk=run.pk).update(state="running")
    run.refresh_from_db()
    JUDGING.wake(run)
    assert (queued(), queued(tasks.watch)) == (4, 1)


def test_run_is_revived_once_however_often_somebody_looks(run):
    assert [JUDGING.revive(run) for _ in range(3)] == [True, False, False]
    assert (queued(), queued(tasks.watch)) == (1, 1)


def test_task_that_is_put_off_is_alive(run):
    later = timezone.now() + timedelta(minutes=2)
    tasks.work.using(run_after=later).enqueue(run.pk)
    assert not JUDGING.revive(run)


def test_task_of_another_run_does_not_count(run):
    other_run = runs.start(a_judge("other"), run.dataset, Selection())
    JUDGING.wake(other_run)
    assert JUDGING.revive(run)


def test_task_that_has_run_too_long_without_a_lease_is_taken_for_dead(run, settings):
    JUDGING.wake(run)
    now = timezone.now()
    DBTaskResult.objects.update(status=TaskResultStatus.RUNNING, started_at=now)
    assert not JUDGING.revive(run)
    long_ago = now - timedelta(seconds=settings.JUDGE_LEASE_SECONDS + 1)
    DBTaskResult.objects.update(started_at=long_ago)
    assert JUDGING.revive(run)


def test_run_that_somebody_plans_or_works_at_is_not_revived_but_watched(run):
    JudgeRun.objects.filter(pk=run.pk).update(planning_until=leases.lease_expiry())
    assert not JUDGING.revive(run)
    JudgeRun.objects.filter(pk=run.pk).update(planning_until=None)
    run.refresh_from_db()
    plan(run, WORKER)
    leases.take(run, "alive:1")
    assert not JUDGING.revive(run)
    assert (queued(), queued(tasks.watch)) == (0, 1)


@pytest.mark.parametrize("state", ["paused", "cancelled", "stopped", "finished"])
def test_run_that_does_not_go_on_is_left_alone(run, state):
    JudgeRun.objects.filter(pk=run.pk).update(state=state)
    run.refresh_from_db()
    assert not JUDGING.revive(run)
    assert JUDGING.revive_all() == []
    tasks.watch.call(run.pk)
    assert queued(tasks.watch) == 0


def test_watch_wakes_a_worker_and_is_followed_by_one_watch(run):
    tasks.watch.call(run.pk)
    assert (queued(), queued(tasks.watch)) == (1, 1)
    tasks.watch.call(run.pk)
    assert (queued(), queued(tasks.watch)) == (1, 1)


def test_grader_that_cannot_work_here_pauses_the_run_and_its_task_does_not_come_back(run):
    JudgeRun.objects.filter(pk=run.pk).update(endpoint="nowhere", workers=1)
    tasks.work.call(run.pk)
    run.refresh_from_db()
    assert run.state == "paused"
    assert "knows no endpoint 'nowhere'" in run.note
    assert queued() == 0


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_worker_fills_a_run_that_was_started_elsewhere():
    study = make_study()
    judge, _ = baseline_of(study)
    run = runs.start(judge, study, Selection(), workers=2)
    JUDGING.wake(run)
    worker = manage("judge_worker", "--batch")
    printed, complaints = worker.communicate(timeout=HANGS)
    assert worker.returncode == 0, complaints
    assert "waits for runs" in printed
    assert state_of(run) == "finished"
    assert counted(judge).keys() == all_pairs(study)
    assert agrees(judge)


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_run_whose_worker_is_killed_goes_on_though_nobody_looks(settings, tmp_path):
    settings.JUDGE_LEASE_SECONDS = LEASE  # here as well: the first watch is put off by it
    study, judge = make_study(), stand_in_judge()
    with slow_server(seconds=0.15, at_once=1) as url:
        run = runs.start(judge, study, Selection(), endpoint=url, concurrency=2)
        JUDGING.wake(run)
        first = a_worker(tmp_path, "--interval", "0.2")
        second = None
        try:
            wait_for(Attempt.objects.exists)
            first.kill()
            first.join()
            assert state_of(run) == "running"
            n = Attempt.objects.count()
            second = a_worker(tmp_path, "--interval", "0.2")
            wait_for(lambda: state_of(run) == "finished")
        finally:
            for process in filter(None, (first, second)):
                process.kill()
                process.join()
    assert 0 < n < 24
    assert counted(judge).keys() == all_pairs(study)
    assert agrees(judge)
    assert len(set(run.batches.values_list("worker", flat=True))) == 2


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_look_at_a_run_whose_worker_was_killed_wakes_another(settings, tmp_path):
    settings.JUDGE_LEASE_SECONDS = LEASE
    study, judge = make_study(), stand_in_judge()
    with slow_server(seconds=0.15, at_once=1) as url:
        run = runs.start(judge, study, Selection(), endpoint=url, concurrency=2)
        JUDGING.wake(run)
        worker = a_worker(tmp_path, "--interval", "0.2")
        try:
            wait_for(Attempt.objects.exists)
        finally:
            worker.kill()
            worker.join()
        run.refresh_from_db()
        now = timezone.now()
        lent = run.shards.filter(state="leased")
        assert lent.update(expires=now + timedelta(hours=1)) == 1
        assert not JUDGING.revive(run)
        lent.update(expires=now - timedelta(seconds=1))
        begun = DBTaskResult.objects.filter(status=TaskResultStatus.RUNNING)
        begun.update(started_at=now - timedelta(hours=1))
        assert JUDGING.revive(run)
        worker = a_worker(tmp_path, "--batch")
        worker.join(HANGS)
    assert worker.exitcode == 0, (tmp_path / "said").read_text()
    assert state_of(run) == "finished"
    assert counted(judge).keys() == all_pairs(study)
