"""State transitions of a run, and conflicts between two people."""

import pytest

from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.execution import leases, states
from judging.llm.errors import BackendError
from judging.models import JudgeRun, Shard
from tests.toolbox.judging_study import WORKER, Scripted, a_judge, make_study, planned

STATES = ("planning", "running", "paused", "cancelled", "stopped", "finished")
REFUSED = None
BECOMES = {
    states.pause: ("", "paused", "", "", "", ""),
    states.cancel: ("cancelled", "cancelled", "cancelled", "", "", ""),
    runs.resume: ("", "", "running", "running", "running", ""),
}


@pytest.fixture
def run(db):
    return planned(a_judge(), make_study())


@pytest.mark.parametrize("step", BECOMES)
@pytest.mark.parametrize("state", STATES)
def test_steps_from_all_states(run, step, state):
    JudgeRun.objects.filter(pk=run.pk).update(state=state, note="before")
    run.refresh_from_db()
    becomes = BECOMES[step][STATES.index(state)]
    if becomes:
        step(run)
        assert run.note == ""
    else:
        with pytest.raises(states.RunStateError, match=f"Judge run {run.pk} is "):
            step(run)
        assert run.note == "before"
    assert run.state == JudgeRun.objects.get(pk=run.pk).state == (becomes or state)
    assert (run.ended is not None) == (becomes == "cancelled")


@pytest.mark.parametrize("step", BECOMES)
def test_step_from_a_state_that_is_no_more_is_refused(run, step):
    stale = JudgeRun.objects.get(pk=run.pk)
    stale.state = STATES[[bool(state) for state in BECOMES[step]].index(True)]
    if step is runs.resume:
        stale.state = "paused"
    JudgeRun.objects.filter(pk=run.pk).update(state="finished")
    with pytest.raises(states.RunStateError):
        step(stale)
    assert stale.state == "finished"


def test_judge_has_one_open_run_of_a_dataset(run):
    with pytest.raises(
        states.RunStateError, match=f"Judge run {run.pk} of judge on study is still open"
    ):
        runs.start(run.judge, run.dataset, Selection(limit=1))
    runs.start(run.judge, make_study(slug="other"), Selection())
    runs.start(a_judge("second"), run.dataset, Selection())
    states.cancel(run)
    second_run = runs.start(run.judge, run.dataset, Selection())
    with pytest.raises(
        states.RunStateError, match=f"Judge run {second_run.pk} of .* is still open"
    ):
        runs.resume(run)
    assert JudgeRun.objects.get(pk=run.pk).state == "cancelled"


def test_judge_of_one_dataset_is_not_asked_about_another(run):
    judge = a_judge("own")
    type(judge.rater).objects.filter(pk=judge.rater_id).update(dataset=run.dataset)
    judge.rater.refresh_from_db()
    with pytest.raises(states.RunStateError, match="belongs to the dataset"):
        runs.start(judge, make_study(slug="other"), Selection())


def test_resuming_takes_a_new_budget(run):
    JudgeRun.objects.filter(pk=run.pk).update(max_pairs=2)
    run.refresh_from_db()
    pump(run, Scripted(), WORKER)
    assert run.state == "stopped"
    with pytest.raises(states.RunStateError, match="budget of 1 pair is spent"):
        runs.resume(JudgeRun.objects.get(pk=run.pk), max_pairs=1)
    runs.resume(run, max_pairs=5)
    assert (run.state, run.max_pairs, run.note, run.ended) == ("running", 5, "", None)


def test_run_without_shards_left_is_finished_once(run):
    runs.finish_if_done(run)
    assert run.state == "running"
    run.shards.update(state=Shard.State.DONE)
    runs.finish_if_done(run)
    assert (run.state, run.ended is None) == ("finished", False)
    JudgeRun.objects.filter(pk=run.pk).update(state="cancelled")
    runs.finish_if_done(run)
    assert run.state == "cancelled"


def test_run_that_waits_to_be_planned_is_not_finished(db):
    run = runs.start(a_judge(), make_study(), Selection())
    runs.finish_if_done(run)
    assert run.state == "planning"
    plan(run, WORKER)
    assert run.state == "running"


@pytest.mark.parametrize("error", [BackendError("The server is away."), ValueError("odd")])
def test_last_worker_to_give_up_pauses_the_run_and_says_why(run, error):
    leases.take(run, "other:1")
    with pytest.raises(type(error)), states.giving_up(run, WORKER):
        raise error
    assert run.state == "running"
    assert run.note.startswith(f"{WORKER} left: ")
    with pytest.raises(type(error)), states.giving_up(run, "other:1"):
        raise error
    assert run.state == "paused"
    assert run.note in ("The server is away.", "ValueError: odd")


def test_long_reason_is_cut(run):
    with pytest.raises(BackendError), states.giving_up(run, WORKER):
        raise BackendError("x" * 2_000)
    assert len(run.note) == 500


def test_stopping_by_hand_is_no_reason_to_pause(run):
    with pytest.raises(KeyboardInterrupt), states.giving_up(run, WORKER):
        raise KeyboardInterrupt
    assert (run.state, run.note) == ("running", "")
