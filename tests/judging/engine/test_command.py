"""Command judge: its output, refusals, and resumption of a stopped run."""

import json
import os
import re
import signal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating
from judging.engine import runs
from judging.engine.fill import pump
from judging.engine.selection import Selection
from judging.execution import states
from judging.models import Attempt, JudgeRun, JudgeTestReply
from tests.judging.engine.processes import kill, manage, stand_in_judge
from tests.toolbox.clock import HANGS, wait_for
from tests.toolbox.judge_test_study import graded_study, planned_test, prompted_judge
from tests.toolbox.judging_study import (
    Scripted,
    a_judge,
    agrees,
    all_pairs,
    counted,
    failed,
    graded,
    make_study,
    planned,
)
from tests.toolbox.mock_server import slow_server


@pytest.fixture
def study(db):
    return make_study()


def judge(*arguments: str, **options) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("judge", *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_json_is_one_line_alone(study):
    out, err = judge("study", "--json")
    assert err == ""
    [line] = out.splitlines()
    printed = json.loads(line)
    assert list(printed) == [
        "run",
        "state",
        "note",
        "judge",
        "fingerprint",
        "there_before",
        "without_words",
        "failures",
        "put_aside",
        "planned",
        "done",
        "graded",
        "failed",
        "sent",
        "prompt_tokens",
        "completion_tokens",
        "money",
        "rate",
        "remaining_seconds",
        "expected_minus_grade",
        "shards",
        "workers",
    ]
    assert (printed["state"], printed["judge"], printed["graded"]) == ("finished", "lexical", 24)
    assert printed["failures"] == {}


def test_progress_is_on_stderr_and_the_result_on_stdout(study):
    out, err = judge("study")
    assert "of lexical (a baseline, not a model) is finished: 24 pairs graded" in out
    assert "24/24" in err
    assert judge("study", verbosity=0) == ("", "")


def test_same_command_again_has_nothing_to_do(study):
    judge("study")
    out, _ = judge("study")
    assert "0 pairs graded, 24 were there before" in out
    assert Rating.objects.count() == 24


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["nowhere"], "no dataset 'nowhere'; there are: study"),
        (["study", "--judge", "nobody"], "no judge 'nobody'; there are: lexical"),
        (["study", "--topics", "t-0", "t-7"], "study has no topic 't-7'"),
        (["study", "--run", "bm25"], "study has no run 'bm25'"),
        (["study", "--depth", "5"], "A depth needs a run"),
        (["study", "--limit", "0"], "The limit is a number of 1 or more"),
        (["study", "--join", "99"], "study has no judge run 99"),
    ],
)
def test_invalid_option_is_named_and_creates_nothing(study, arguments, options):
    with pytest.raises(CommandError, match=options):
        judge(*arguments)
    assert not JudgeRun.objects.exists()


def test_dry_run_counts_and_writes_nothing(study):
    out, _ = judge("study", "--dry-run", "--json", "--limit", "10")
    assert json.loads(out)["to_send"] == 10
    out, _ = judge("study", "--dry-run")
    assert out.startswith("24 pairs to send. 0 already have a grade")
    assert not JudgeRun.objects.exists()


@pytest.mark.parametrize(
    ("endpoint", "refusal"),
    [
        (
            "",
            "A model needs a server: name one as its endpoint. JUDGE_ENDPOINTS names: lab.",
        ),
        ("far", "knows no endpoint 'far'; JUDGE_ENDPOINTS names: lab."),
        ("127.0.0.1:8000/v1", "An address begins with http:// or https://."),
    ],
)
def test_endpoint_that_is_not_known_here_is_an_error_and_makes_no_run(
    study, settings, endpoint, refusal
):
    settings.JUDGE_ENDPOINTS = {"lab": "http://gpu/v1"}
    a_judge("model")
    with pytest.raises(CommandError) as caught:
        judge("study", "--judge", "model", "--endpoint", endpoint)
    assert refusal in str(caught.value)
    assert not JudgeRun.objects.exists()


def test_other_selection_is_refused_while_a_run_is_open(study):
    model = a_judge("model")
    run = runs.start(model, study, Selection(texts="passages"))
    refusal = f"Judge run {run.pk} of model on study is still open; it grades passages. .*--cancel {run.pk}"
    other_selection = (
        "study",
        "--judge",
        "model",
        "--texts",
        "reports",
        "--endpoint",
        "http://127.0.0.1:9/v1",
    )
    with pytest.raises(CommandError, match=refusal):
        judge(*other_selection)
    out, _ = judge("study", "--cancel", str(run.pk))
    assert f"judge run {run.pk} of model is cancelled" in out
    with pytest.raises(CommandError, match="it cannot be cancelled"):
        judge("study", "--cancel", str(run.pk))
    with pytest.raises(CommandError, match="study has no judge run 999"):
        judge("study", "--cancel", "999")


def test_joining_a_run_works_on_it_and_on_no_other(study):
    judge("study", "--limit", "3")
    lexical = JudgeRun.objects.get().judge
    run = planned(lexical, study)
    out, _ = judge("study", "--join", str(run.pk), "--json")
    assert (json.loads(out)["run"], json.loads(out)["graded"]) == (run.pk, 21)
    other_run = runs.start(lexical, study, Selection())
    states.cancel(other_run)
    with pytest.raises(
        CommandError, match=f"Judge run {other_run.pk} is cancelled: give the command"
    ):
        judge("study", "--join", str(other_run.pk))


def test_retry_asks_only_what_failed(study):
    judge("study", "--limit", "1")
    lexical = JudgeRun.objects.get().judge
    pump(
        planned(lexical, study),
        Scripted(lambda p: failed(p) if p.question_id % 2 else graded(p)),
        "x",
    )
    n = sum(state != "graded" for state, _ in counted(lexical).values())
    out, _ = judge("study", "--retry", "--json")
    assert 0 < json.loads(out)["graded"] == json.loads(out)["planned"] == n
    assert {state for state, _ in counted(lexical).values()} == {"graded"}
    assert agrees(lexical)


def test_paused_run_goes_on_with_a_new_budget(study):
    judge("study", "--max-pairs", "7")
    run = JudgeRun.objects.get()
    JudgeRun.objects.filter(pk=run.pk).update(state="paused")
    _, err = judge("study", "--max-pairs", "9")
    assert f"going on with judge run {run.pk}" in err
    run.refresh_from_db()
    assert (run.state, run.max_pairs, run.spending().requests) == ("stopped", 9, 9)
    assert Attempt.objects.count() == 9


def test_budget_is_for_a_run_however_often_its_command_is_given(study):
    judge("study", "--max-pairs", "7")
    for more in (["--max-pairs", "7"], ["--max-pairs", "5"], []):
        with pytest.raises(CommandError, match="Set a larger budget to continue"):
            judge("study", *more)
    run = JudgeRun.objects.get()
    assert (run.state, run.max_pairs, Attempt.objects.count()) == ("stopped", 7, 7)
    judge("study", "--max-pairs", "100")
    run.refresh_from_db()
    assert (run.state, Attempt.objects.count()) == ("finished", 24)


def test_budget_that_cannot_stop_anything_is_said(study):
    run = planned(a_judge("model"), study, max_tokens=5)
    pump(run, Scripted(), "x")
    runs.finish_if_done(run)
    _, err = judge("study", "--join", str(run.pk))
    assert "No reply tells its tokens: only a budget of pairs can stop it." in err


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_ctrl_c_pauses_and_the_same_command_goes_on():
    study, model = make_study(), stand_in_judge()
    with slow_server(seconds=0.15, at_once=1) as url:
        command = ["judge", "study", "--judge", "stand-in", "--endpoint", url, "--concurrency", "2"]
        process = manage(*command)
        try:
            wait_for(Attempt.objects.exists)
            os.kill(process.pid, signal.SIGINT)
            printed, complaints = process.communicate(timeout=HANGS)
        finally:
            kill(process)
        run = JudgeRun.objects.get()
        n = Attempt.objects.count()
        assert process.returncode == 0, complaints
        assert f"left judge run {run.pk}; every reply so far is kept" in complaints
        assert "Traceback" not in complaints
        assert f"{n} pairs graded" in printed
        assert "stopped by hand" in printed
        assert (run.state, 0 < n < 24) == ("paused", True)
        assert not run.shards.filter(state="leased").exists()
        _, complaints = judge(*command[1:])
    assert f"going on with judge run {run.pk}" in complaints
    run.refresh_from_db()
    assert run.state == "finished"
    assert counted(model).keys() == all_pairs(study)
    assert agrees(model)


def test_seconds_for_a_reply_are_kept_and_refused_at_none(study):
    with pytest.raises(CommandError, match="The reply seconds of a run is more than 0"):
        judge("study", "--reply-seconds", "0")
    assert not JudgeRun.objects.exists()
    judge("study", "--reply-seconds", "240")
    assert JudgeRun.objects.get().reply_seconds == 240


def test_command_tests_a_judge_and_prints_the_result(db):
    tested = prompted_judge("stand-in", model="stand-in")
    dataset = graded_study(tested, topics=2, texts=2, questions=2)
    arguments = ("study", "--judge", "stand-in", "--test", "repeat", "--pairs", "4")
    with slow_server(0) as url:
        arguments += ("--endpoint", url)
        estimate, _ = judge(*arguments, "--dry-run", "--repeats", "2")
        assert estimate.startswith("8 requests: 4 pairs, 2 times each.")
        out, _ = judge(*arguments, "--repeats", "2")
        assert "test “Repeat” of stand-in on study: 4 pairs, 2 × each, 8 replies" in out
        assert "Grades that change: " in out
        assert "Noise of the mean grade of passages (8 pairs): ± " in out
        out, _ = judge(*arguments, "--json", "--seed", "5")
    result = json.loads(out)["result"]
    assert (result["test"], result["pairs"], result["repeats"], result["seed"]) == (
        "repeat",
        4,
        3,
        5,
    )
    assert (result["replies"], result["failed"]) == (12, 0)
    assert {*result["measures"]} == {"changes", "unstable_pairs", "within_pair_sd"}
    assert Attempt.objects.count() == Rating.objects.count() == 8
    assert dataset.judge_runs.exclude(test="").count() == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pairs", "3"), "--pairs is for a test: name one with --test."),
        (("--test", "repeat", "--pairs", "0"), "pairs: a number from 1 to 5,000, not 0."),
        (("--test", "repeat", "--repeats", "11"), "repeats: a number from 2 to 10, not 11."),
        (("--test", "repeat", "--limit", "3"), "--limit is not for it"),
        (("--test", "repeat"), "A baseline is a fixed rule"),
    ],
)
def test_test_that_cannot_be_is_refused(study, arguments, message):
    with pytest.raises(CommandError, match=re.escape(message)):
        judge("study", *arguments)
    assert not JudgeRun.objects.exists()


def test_paused_test_goes_on_with_the_same_command(db):
    tested = prompted_judge("stand-in", model="stand-in")
    dataset = graded_study(tested, topics=2, texts=2, questions=2)
    run = planned_test(tested, dataset, pairs=4, repeats=2)
    states.pause(run)
    with slow_server(0) as url:
        arguments = ("--judge", "stand-in", "--test", "repeat", "--pairs", "4", "--repeats", "2")
        _, err = judge("study", *arguments, "--endpoint", url)
    assert f"going on with judge run {run.pk}" in err
    run.refresh_from_db()
    assert (run.state, run.test_replies.count()) == ("finished", 8)


@pytest.mark.timing
@pytest.mark.django_db(transaction=True)
def test_test_of_a_killed_worker_goes_on_and_stores_no_reply_twice():
    tested = prompted_judge("stand-in", model="stand-in")
    graded_study(tested)
    ratings = agrees(tested), Rating.objects.count()
    with slow_server(seconds=0.05, at_once=2) as url:
        command = ["judge", "study", "--judge", "stand-in", "--test", "repeat", "--pairs", "24"]
        command += ["--endpoint", url, "--concurrency", "4"]
        process = manage(*command, JUDGE_LEASE_SECONDS="2")
        try:
            wait_for(JudgeTestReply.objects.exists)
        finally:
            kill(process)
        run = JudgeRun.objects.exclude(test="").get()
        n = run.test_replies.count()
        assert (run.state, 0 < n < 72) == ("running", True)
        judge(*command[1:])
    run.refresh_from_db()
    assert run.state == "finished"
    replies = run.test_replies.values_list("attempt", "repeat")
    assert len(replies) == len(set(replies)) == 72
    assert sum(run.batches.values_list("n_attempts", flat=True)) == 72
    assert (agrees(tested), Rating.objects.count()) == ratings == (True, 24)
