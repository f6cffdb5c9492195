"""Planning by one process at a time, whoever dies, is late or is called off."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Text
from judging.engine import planning, runs
from judging.engine.fill import pump
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.execution import states
from judging.execution.states import PlanningConflictError
from judging.models import JudgeRun, Shard
from tests.toolbox.judging_study import (
    WORKER,
    Scripted,
    a_judge,
    add_text,
    make_study,
    planned,
    planned_pairs,
)
from tests.toolbox.threads import in_threads


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def judge(study):
    return a_judge()


def test_planning_that_dies_in_the_middle_starts_again(judge, study, monkeypatch):
    text = Text.objects.first()
    pump(planned(judge, study, Selection(topics=("t-0",))), Scripted(), WORKER)
    add_text(text.topic, "twin", text.body)
    monkeypatch.setattr(planning, "TEXTS_AT_ONCE", 2)
    monkeypatch.setattr(planning, "SMALLEST_SHARD", 4)
    run = runs.start(judge, study, Selection())
    original = planning.missing

    def dies(*args):
        for index, chunk in enumerate(original(*args)):
            if index == 2:
                raise KeyboardInterrupt
            yield chunk

    monkeypatch.setattr(planning, "missing", dies)
    with pytest.raises(KeyboardInterrupt):
        plan(run, WORKER)
    monkeypatch.setattr(planning, "missing", original)
    run = JudgeRun.objects.get(pk=run.pk)
    assert (run.state, run.planning_until) == ("planning", None)
    assert run.batches.count() == 1  # the copies of the twin
    plan(run, "there:2")
    assert (run.state, run.n_planned, run.n_there_before) == ("running", 16, 12)
    pairs = planned_pairs(run)
    assert len(pairs) == len(set(pairs)) == 12


def test_planner_that_was_killed_is_followed_when_its_lease_is_over(judge, study):
    run = runs.start(judge, study, Selection())
    JudgeRun.objects.filter(pk=run.pk).update(planning_until=timezone.now() + timedelta(minutes=1))
    Shard.objects.create(run=run, number=1, groups=[[[1], [1]]], n_pairs=1)
    with pytest.raises(PlanningConflictError):
        plan(run, WORKER)
    JudgeRun.objects.filter(pk=run.pk).update(planning_until=timezone.now() - timedelta(seconds=1))
    plan(run, WORKER)
    assert len(planned_pairs(run)) == 24


def test_planner_that_lost_its_hold_writes_nothing_more(judge, study, monkeypatch):
    monkeypatch.setattr(planning, "TEXTS_AT_ONCE", 2)
    monkeypatch.setattr(planning, "SMALLEST_SHARD", 4)
    run = runs.start(judge, study, Selection())
    same_run = JudgeRun.objects.get(pk=run.pk)
    original = planning.missing

    def overtaken(*args):
        for index, chunk in enumerate(original(*args)):
            if index == 1:
                JudgeRun.objects.filter(pk=run.pk).update(planning_until=None)
                with monkeypatch.context() as patch:
                    patch.setattr(planning, "missing", original)
                    plan(same_run, "there:2")
            yield chunk

    monkeypatch.setattr(planning, "missing", overtaken)
    with pytest.raises(PlanningConflictError):
        plan(run, WORKER)
    pairs = planned_pairs(same_run)
    assert len(pairs) == len(set(pairs)) == 24
    assert JudgeRun.objects.get(pk=run.pk).n_planned == 24


def test_run_that_is_cancelled_while_it_is_planned_can_be_resumed_whole(judge, study, monkeypatch):
    monkeypatch.setattr(planning, "TEXTS_AT_ONCE", 2)
    monkeypatch.setattr(planning, "SMALLEST_SHARD", 4)
    run = runs.start(judge, study, Selection())
    original = planning.missing

    def cancelled(*args):
        for index, chunk in enumerate(original(*args)):
            if index == 2:
                states.cancel(JudgeRun.objects.get(pk=run.pk))
            yield chunk

    monkeypatch.setattr(planning, "missing", cancelled)
    with pytest.raises(PlanningConflictError, match="was cancelled"):
        plan(run, WORKER)
    monkeypatch.setattr(planning, "missing", original)
    run = JudgeRun.objects.get(pk=run.pk)
    assert (run.state, run.shards.count()) == ("cancelled", 4)
    runs.resume(run)
    assert run.state == "planning"
    plan(run, WORKER)
    pairs = planned_pairs(run)
    assert len(pairs) == len(set(pairs)) == 24


@pytest.mark.django_db(transaction=True)
def test_of_planners_that_begin_at_once_one_plans():
    judge, study = a_judge(), make_study(topics=5, texts=20, questions=10)
    run = runs.start(judge, study, Selection())

    def plan_once(worker):
        try:
            plan(JudgeRun.objects.get(pk=run.pk), worker)
        except PlanningConflictError:
            return 0
        return 1

    assert sum(in_threads(plan_once, [f"w:{n}" for n in range(6)], threads=6)) == 1
    pairs = planned_pairs(run)
    assert len(pairs) == len(set(pairs)) == 1_000
