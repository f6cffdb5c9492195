"""Pause, cancel, resume and ask again: each once, by admins, with a sentence either way."""

import pytest

from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.execution import states
from judging.models import Batch, JudgeRun
from tests.toolbox import judging_study
from tests.toolbox.judging_runs import a_run, filled, n_wakes


@pytest.fixture
def act(cast, run, django_capture_on_commit_callbacks):
    def act(action, sent=None, of=run):
        client = cast.client("admin")
        with django_capture_on_commit_callbacks(execute=True):
            response = client.post(f"/judge-runs/{of.pk}/{action}/", sent or {})
        of.refresh_from_db()
        return client.get(response.url).content.decode()

    return act


def test_pause_and_resume(act, run):
    assert "The run is paused." in act("pause")
    assert (run.state, run.note) == ("paused", "Paused by ada.")
    assert n_wakes(run) == 0
    assert "The run continues." in act("resume")
    assert (run.state, run.note) == ("running", "")
    assert n_wakes(run) == 1


def test_cancelling_asks_first_and_keeps_all(cast, act, run):
    page = cast.client("admin").get(f"/judge-runs/{run.pk}/cancel/").content.decode()
    assert "All grades are kept, also those" in page
    run.refresh_from_db()
    assert run.state == "running"
    assert "The run is cancelled." in act("cancel")
    assert run.state == "cancelled"
    assert "The run continues." in act("resume")


def test_impossible_step_is_refused_with_a_message(act, run):
    assert "it cannot be cancelled" not in act("pause")
    assert "is paused, so it cannot be paused." in act("pause")
    act("resume")
    assert "cannot be resumed" in act("resume")
    filled(run)
    assert "is finished, so it cannot be cancelled." in act("cancel")
    assert run.state == "finished"


def test_spent_budget_needs_a_larger_one(act, run):
    JudgeRun.objects.filter(pk=run.pk).update(max_pairs=4)
    run.refresh_from_db()
    filled(run)
    assert run.state == "stopped"
    page = act("resume")
    assert "The budget of 4 pairs is spent. Set a larger budget to continue." in page
    assert 'name="max_pairs" value="4"' in page
    assert run.state == "stopped"
    act("resume", {"max_pairs": "100", "max_tokens": "", "max_money": ""})
    assert (run.state, run.max_pairs) == ("running", 100)


def test_seconds_for_a_reply_can_be_changed_where_a_run_goes_on(act, run):
    JudgeRun.objects.filter(pk=run.pk).update(current_concurrency=3)
    act("pause")
    act("resume", {"reply_seconds": "300"})
    assert (run.state, run.reply_seconds, run.current_concurrency) == ("running", 300, None)
    act("pause")
    act("resume", {"reply_seconds": ""})
    assert (run.state, run.reply_seconds) == ("running", None)


def test_empty_budget_lifts_the_limit(act, run):
    JudgeRun.objects.filter(pk=run.pk).update(max_pairs=4)
    act("pause")
    act("resume", {"max_pairs": ""})
    assert (run.state, run.max_pairs) == ("running", None)


@pytest.mark.parametrize("wrong", ["-1", "many", "99999999999"])
def test_wrong_budget_changes_nothing_and_is_shown_as_it_was_typed(cast, act, run, wrong):
    act("pause")
    sent = {"max_pairs": wrong, "max_tokens": "5"}
    answer = cast.client("admin").post(f"/judge-runs/{run.pk}/resume/", sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'name="max_pairs" value="{wrong}"' in page
    assert 'name="max_tokens" value="5"' in page
    assert 'id="id_max_pairs_error"' in page
    assert page.count("autofocus") == 1
    run.refresh_from_db()
    assert (run.state, run.max_pairs, run.max_tokens) == ("paused", None, None)


def test_budget_that_is_spent_already_is_shown_as_it_was_typed(cast, act, run):
    JudgeRun.objects.filter(pk=run.pk).update(max_pairs=4)
    run.refresh_from_db()
    filled(run)
    sent = {"max_pairs": "3", "max_tokens": "70"}
    answer = cast.client("admin").post(f"/judge-runs/{run.pk}/resume/", sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "The budget of 3 pairs is spent. Set a larger budget to continue." in page
    assert 'name="max_tokens" value="70"' in page
    run.refresh_from_db()
    assert (run.state, run.max_pairs) == ("stopped", 4)


def test_failed_pairs_are_asked_again_in_a_new_run(act, run, judge, dataset):
    run.endpoint, run.price_in, run.currency = "local", 0.1, "EUR"
    run.save()
    filled(run)
    page = act("retry")
    retry = JudgeRun.objects.exclude(pk=run.pk).get()
    assert retry.selection == {"retry": True, "failed_in": run.pk}
    assert (retry.endpoint, retry.price_in, retry.currency) == ("local", 0.1, "EUR")
    assert f"the pairs that failed in judge run {run.pk}" in page
    assert (n_wakes(retry), n_wakes(run)) == (1, 0)
    page = act("retry")
    assert f"Judge run {retry.pk} of tiny-judge on ferry is still open" in page
    states.cancel(retry)


def test_run_that_another_has_taken_the_place_of_cannot_resume(act, run, judge, dataset):
    act("cancel")
    other_run = runs.start(judge, dataset, Selection())
    assert f"Judge run {other_run.pk} of tiny-judge on ferry is still open" in act("resume")
    assert run.state == "cancelled"


def test_only_what_failed_in_this_run_is_asked_again(act, run, dataset):
    pump(run, judging_study.Scripted(judging_study.failed), "gpu-1:7")
    run.refresh_from_db()
    trial = a_run(run.judge, dataset)
    first, *later_attempts = run.judge.attempts.filter(copied=False).order_by("pk")
    run.judge.attempts.filter(text=first.text, question=first.question).update(
        batch=Batch.objects.create(run=trial, worker="there")
    )
    act("retry")
    retry = JudgeRun.objects.latest("pk")
    plan(retry, "here")
    retried = set(judging_study.planned_pairs(retry))
    assert (first.text_id, first.question_id) not in retried
    assert {(attempt.text_id, attempt.question_id) for attempt in later_attempts} <= retried
