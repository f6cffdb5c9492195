"""Tests of judges are started at judge-tests/, and their result is that of the page."""

import pytest

from annotation.models import Project
from judging.engine.fill import pump
from judging.engine.planning import plan
from judging.models import JudgeRun
from tests.toolbox.judge_test_study import graded_study, prompted_judge
from tests.toolbox.judging_study import WORKER, Scripted, graded, make_study

TESTS, RUNS = "/api/v1/judge-tests/", "/api/v1/judge-runs/"
START = {"judge": "tested", "dataset": "study", "test": "repeat", "endpoint": "local"}


@pytest.fixture
def judge(db, settings):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    return prompted_judge()


@pytest.fixture
def study(judge):
    return graded_study(judge)


def start(client, **changes):
    return client.post(TESTS, START | changes, format="json")


def test_test_is_started_and_has_its_result(api, cast, judge, study):
    answer = start(api("admin"), pairs=10, repeats=2, seed=3, max_tokens=1000)
    assert answer.status_code == 201
    started = answer.json()
    assert (started["test"], started["repeats"], started["selection"], started["max_tokens"]) == (
        *("repeat", 2, {"limit": 10, "seed": 3}, 1000),
    )
    run = JudgeRun.objects.get(pk=started["id"])
    assert run.created_by == cast.admin
    plan(run, WORKER)
    pump(run, Scripted(lambda pair: graded(pair, 4)), WORKER)
    result = api("researcher").get(f"{RUNS}{run.pk}/test/").json()
    assert (result["state"], result["pairs"], result["replies"], result["failed"]) == (
        *("finished", 10, 20, 0),
    )
    changes = result["measures"]["changes"]
    assert (changes["value"], changes["n"], changes["missing"]) == (1, 20, 0)
    [score] = result["scores"]
    assert (score["group"], score["pairs"], score["half_width_of_share_at_eta"]) == (
        *("passages", 24, 0),
    )


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"pairs": 0}, 400, "pairs: Ensure this value is greater than or equal to 1."),
        ({"repeats": 11}, 400, "repeats: Ensure this value is less than or equal to 10."),
        ({"seed": "0"}, 400, "seed: A valid integer is required."),
        ({"test": "mood"}, 400, 'test: "mood" is not a valid choice.'),
        ({"texts": "passages"}, 400, "texts: There is no field of this name."),
        ({"judge": "nobody"}, 422, "judge: no judge called nobody judges study"),
        ({"dataset": "nowhere"}, 422, "dataset: there is no dataset called nowhere"),
        ({"endpoint": ""}, 422, "endpoint: there is no endpoint called ''; there are: local"),
        (
            {"test": "question_order"},
            422,
            "test: The prompt of this judge asks one question at a time, so there is no order.",
        ),
    ],
)
def test_invalid_test_is_refused(api, judge, study, changes, status, detail):
    answer = start(api("admin"), **changes)
    assert (answer.json()["detail"], answer.status_code) == (detail, status)
    assert not JudgeRun.objects.exclude(test="").exists()


def test_second_run_of_a_test_is_refused_while_one_is_open(api, judge, study):
    assert start(api("admin")).status_code == 201
    assert start(api("admin")).status_code == 409


def test_result_of_an_ordinary_run_or_of_another_project_is_refused(api, judge, study):
    ordinary = judge.runs.get()
    answer = api("researcher").get(f"{RUNS}{ordinary.pk}/test/")
    assert (answer.status_code, "is no test of a judge" in answer.json()["detail"]) == (409, True)
    private = make_study(slug="private")
    private.project = Project.objects.create(slug="other", title="Other")
    private.save()
    run = JudgeRun.objects.create(judge=judge, dataset=private, test="repeat", repeats=2)
    assert api("researcher").get(f"{RUNS}{run.pk}/test/").status_code == 404
    assert api("admin").get(f"{RUNS}{run.pk}/test/").json()["replies"] == 0
