"""Concurrent work at a run: writers, model loading, failing and waiting workers."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from annotation.models import Rater, Topic
from judging import tasks
from judging.engine import fill, planning, runs
from judging.engine.fill import pump
from judging.engine.judges import baseline_of
from judging.engine.selection import TOPICS_AT_ONCE, Selection
from judging.execution import states
from judging.llm.errors import BackendError
from judging.models import Judge, JudgeRun, Shard
from judging.tasks import JUDGING
from tests.judging.engine.fill_material import fresh, is_whole, nothing_is_lent
from tests.toolbox.judging_study import (
    WORKER,
    Grader,
    Scripted,
    a_judge,
    graded,
    make_large_study,
    make_study,
    planned,
)
from tests.toolbox.threads import in_threads


@pytest.mark.django_db(transaction=True)
def test_planning_goes_on_while_others_write(monkeypatch):
    judge = a_judge()
    study = make_large_study(TOPICS_AT_ONCE + 10, texts=2, questions=1)
    monkeypatch.setattr(planning, "TEXTS_AT_ONCE", 20)
    original = planning.missing

    def beside_a_writer(*args):
        for chunk in original(*args):
            in_threads(lambda body: Topic.objects.update(request=body), ["Why so?"])
            yield chunk

    monkeypatch.setattr(planning, "missing", beside_a_writer)
    run = runs.start(judge, study, Selection())
    counts = planning.plan(run, WORKER)
    assert (fresh(run).state, counts.to_send) == ("running", (TOPICS_AT_ONCE + 10) * 2)


def test_planning_error_is_recorded(db, monkeypatch):
    run = runs.start(a_judge(), make_study(), Selection())

    def breaks(*args):
        raise RuntimeError("no room on the disk")

    monkeypatch.setattr(planning, "missing", breaks)
    with pytest.raises(RuntimeError):
        tasks.work.call(run.pk)
    run = fresh(run)
    assert (run.state, run.note) == ("planning", "RuntimeError: no room on the disk")
    monkeypatch.undo()
    planning.plan(run, WORKER)
    assert (run.state, run.note) == ("running", "")


@pytest.fixture
def run(db):
    """Of a judge whose model is loaded into the worker; four shards."""
    judge = a_judge(backend=Judge.Backend.VLLM)
    return planned(judge, make_study(topics=2, texts=10, questions=10))


def test_while_a_model_is_loaded_nobody_else_is_woken_or_pauses_the_run(run, settings):
    settings.JUDGE_LEASE_SECONDS = 1
    observed = []

    def loads(pairs):
        # As if it took longer than a lease, and somebody looked, and a worker without a GPU came along.
        shard = Shard.objects.get(state="leased")
        observed.append(shard.expires - timezone.now() > timedelta(seconds=fill.LOADING - 60))
        observed.append(JUDGING.revive(fresh(run)))
        with pytest.raises(BackendError), states.giving_up(fresh(run), "elsewhere:1"):
            raise BackendError("vLLM is not installed")
        observed.append(fresh(run).state)
        yield from map(graded, pairs)

    pump(run, Grader(loads), WORKER)
    assert observed == [True, False, "running"]
    assert fresh(run).state == "finished"
    assert is_whole(run)


def test_model_that_cannot_be_loaded_leaves_no_lease_behind(run):
    def breaks(pairs):
        raise BackendError("vLLM cannot load it")
        yield

    with pytest.raises(BackendError), states.giving_up(run, WORKER):
        pump(run, Grader(breaks), WORKER)
    assert nothing_is_lent(run)
    assert (run.state, run.note) == ("paused", "vLLM cannot load it")


def test_run_that_was_paused_and_resumed_has_no_more_workers_than_it_asked_for(db, monkeypatch):
    run = planned(a_judge(), make_study(), workers=1)
    monkeypatch.setattr(tasks, "grader_of", lambda run: (Scripted(), 64))

    def turn(run, *args, **options):
        states.pause(run)
        runs.resume(run)
        JUDGING.wake(run)

    monkeypatch.setattr(tasks, "pump", turn)
    JUDGING.wake(run)
    own_task = DBTaskResult.objects.filter(task_path=tasks.work.module_path).get()
    DBTaskResult.objects.filter(pk=own_task.pk).update(
        status=TaskResultStatus.RUNNING, started_at=timezone.now()
    )
    tasks.work.call(run.pk)
    # The one that was woken when the run was resumed, and no second one after this turn.
    assert DBTaskResult.objects.filter(task_path=tasks.work.module_path).count() == 2


@pytest.mark.django_db(transaction=True)
def test_first_baseline_is_made_once_however_many_ask():
    study = make_study()
    judges = in_threads(lambda _: baseline_of(study)[0].pk, range(4))
    assert len(set(judges)) == Judge.objects.count() == 1
    assert not JudgeRun.objects.exists()


def test_model_of_a_file_is_not_taken_for_the_baseline(db):
    study = make_study()
    Rater.objects.create(dataset=study, name="lexical", kind=Rater.Kind.MODEL)
    judge, _ = baseline_of(study)
    assert judge.is_baseline
    assert judge.slug == f"lexical-{judge.short}"
    assert baseline_of(study)[0] == judge


def test_worker_that_cannot_work_here_does_not_pause_one_that_is_between_two_turns(db):
    run = planned(a_judge(), make_study(), endpoint="nowhere")
    for _ in range(2):
        tasks.work.enqueue(run.pk)
    own_task, other_task = DBTaskResult.objects.filter(task_path=tasks.work.module_path)
    DBTaskResult.objects.filter(pk=own_task.pk).update(
        status=TaskResultStatus.RUNNING, started_at=timezone.now()
    )
    tasks.work.call(run.pk)
    run.refresh_from_db()
    assert (run.state, "left: This machine knows no endpoint" in run.note) == ("running", True)
    # The last one to leave pauses it.
    DBTaskResult.objects.filter(pk=other_task.pk).delete()
    tasks.work.call(run.pk)
    run.refresh_from_db()
    assert run.state == "paused"
