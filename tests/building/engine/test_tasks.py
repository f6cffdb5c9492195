"""Generation runs in the background: repeated turns, woken workers, and a real one."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from building import tasks
from building.engine.choosing import baseline_of
from building.engine.fill import pump
from building.models import Writing
from building.tasks import WRITING
from building.writers.base import Outcome
from judging.engine import runs
from judging.engine.fill import LOADING
from judging.engine.selection import Selection
from judging.execution import leases
from judging.execution.background import Background
from judging.models import JudgeRun
from judging.tasks import JUDGING
from tests.toolbox import scripted_server, worker_processes
from tests.toolbox.clock import HANGS
from tests.toolbox.generation_runs import a_writer, drafts, make_collection, questions, started
from tests.toolbox.judging_study import a_judge, make_study


@pytest.fixture
def run(db):
    return started(baseline_of("questions"), make_collection())


def queued(of=tasks.write):
    return DBTaskResult.objects.filter(
        task_path=of.module_path, status=TaskResultStatus.READY
    ).count()


def state(run):
    run.refresh_from_db()
    return run.state


def test_turn_writes_and_finishes(run):
    tasks.write.call(run.pk)
    assert state(run) == "finished"
    assert drafts(run) == [("a", 1, ""), ("b", 1, "")]
    assert queued() == 0


def test_turn_that_leaves_something_comes_back(run, monkeypatch):
    monkeypatch.setattr("building.tasks.TURN", -1)
    tasks.write.call(run.pk)
    assert (state(run), queued()) == ("running", 1)
    assert drafts(run) == []


def test_rest_of_what_was_asked_for_comes_in_another_turn(db, server):
    server.script(
        "a", scripted_server.reply_with(questions(1)), scripted_server.reply_with(questions(2, 3))
    )
    run = started(a_writer(), make_collection("a"), server, {"n": 3})
    tasks.write.call(run.pk)
    if state(run) == "running":  # the first reply came too late for this turn
        assert queued() == 1
        tasks.write.call(run.pk)
    assert state(run) == "finished"
    assert drafts(run) == [("a", 1, "too_few"), ("a", 2, "")]


def test_leased_orders_are_checked_after_their_leases_expire(run, settings):
    leased = leases.take(run, "elsewhere:1")
    tasks.write.call(run.pk)
    later = DBTaskResult.objects.get(task_path=tasks.write.module_path)
    assert later.run_after > timezone.now() + timedelta(seconds=settings.JUDGE_LEASE_SECONDS / 2)
    leases.give_back(run, [leased.pk], "elsewhere:1")
    tasks.write.call(run.pk)
    assert state(run) == "finished"


def test_writing_is_revived_once_however_often_somebody_looks(run):
    assert [WRITING.revive(run) for _ in range(3)] == [True, False, False]
    assert (queued(), queued(tasks.watch)) == (1, 1)


@pytest.mark.parametrize("state", ["paused", "cancelled", "stopped", "finished"])
def test_writing_that_does_not_go_on_is_left_alone(run, state):
    Writing.objects.filter(pk=run.pk).update(state=state)
    run.refresh_from_db()
    assert not WRITING.revive(run)
    tasks.watch.call(run.pk)
    tasks.write.call(run.pk)
    assert (queued(), queued(tasks.watch), drafts(run)) == (0, 0, [])


def test_watch_wakes_a_worker(run):
    tasks.watch.call(run.pk)
    assert (queued(), queued(tasks.watch)) == (1, 1)


def test_writer_that_cannot_work_here_pauses_the_writing_and_its_task_does_not_come_back(db):
    run = started(a_writer(), make_collection(), endpoint="nowhere")
    tasks.write.call(run.pk)
    assert state(run) == "paused"
    assert "knows no endpoint 'nowhere'" in run.note
    assert queued() == 0


def test_run_in_process_waits_for_a_worker_with_vllm(db):
    run = started(a_writer(backend="vllm"), make_collection())
    tasks.write.call(run.pk)
    assert state(run) == "paused"
    assert run.note.startswith("vLLM is not installed in this environment.")
    assert (queued(), run.orders.filter(state="open").count(), drafts(run)) == (0, 2, [])


def test_while_a_model_is_loaded_its_worker_is_seen_at_the_writing(db):
    run = started(a_writer(backend="vllm"), make_collection())
    remaining = []

    class Loading:
        def outcomes(self, asks):
            first = next(asks)
            remaining.append(run.orders.get(state="leased").expires - timezone.now())
            later_asks = list(asks)
            remaining.append(run.orders.get(pk=later_asks[0].order).expires - timezone.now())
            yield from (Outcome(ask, raw=questions(1)) for ask in (first, *later_asks))

    pump(run, Loading(), "here:1")
    assert remaining[0] > timedelta(seconds=LOADING - 60) > remaining[1]
    assert not leases.leased(run).exists()


def test_judge_run_of_the_same_number_is_another(run):
    judge_run = runs.start(a_judge(), make_study(), Selection())
    JudgeRun.objects.update(id=run.pk)
    judge_run = JudgeRun.objects.get(pk=run.pk)
    JUDGING.wake(judge_run)
    assert WRITING.revive(run)
    assert {kind.model for kind in Background.registered} == {type(judge_run), Writing}


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_worker_that_starts_goes_on_with_what_was_left(tmp_path):
    run = started(baseline_of("questions"), make_collection())
    log = tmp_path / "said"
    worker = worker_processes.start(worker_processes.command, log, "judge_worker", "--batch")
    worker.join(HANGS)
    assert worker.exitcode == 0, log.read_text()
    assert f"Generation run {run.pk} goes on" in log.read_text()
    assert state(run) == "finished"
    assert drafts(run) == [("a", 1, ""), ("b", 1, "")]
