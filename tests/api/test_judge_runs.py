"""Judges are listed; judging runs are started, read, paused, cancelled and resumed."""

import pytest
from django_tasks_db.models import DBTaskResult

from annotation.models import Rater, Rating, Rubric
from judging import tasks
from judging.engine import runs
from judging.engine.foreground import fill
from judging.engine.judges import baseline_of, make_judge
from judging.engine.selection import Selection
from judging.models import Judge, JudgeRun

RUNS = "/api/v1/judge-runs/"
START = {"judge": "lexical", "dataset": "ferry", "texts": "passages"}


@pytest.fixture
def judge(dataset):
    return baseline_of(dataset)[0]


@pytest.fixture
def served_judge(dataset):
    return make_judge(
        "big-model",
        rubric=Rubric.objects.get(slug="graded"),
        backend="openai",
        model="big",
        prompt="{question} {text}",
        parser="integer-1",
    )


def start(client, **changes):
    return client.post(RUNS, START | changes, format="json")


def test_judge_has_its_full_definition(api, dataset, judge):
    (listed,) = api("researcher").get("/api/v1/judges/").json()["results"]
    assert (listed["name"], listed["dataset"], listed["is_baseline"]) == ("lexical", "ferry", True)
    assert listed["fingerprint"] == judge.fingerprint
    assert listed["levels"][0] == {"grade": 0, "label": "Nothing to do with the question"}
    address = f"/api/v1/judges/{judge.fingerprint}/"
    assert api("researcher").get(address).json() == listed
    assert api("researcher").get("/api/v1/judges/nobody/").status_code == 404


def test_run_is_started_and_followed_to_its_end(api, dataset, cast):
    client = api("admin")
    answer = start(client)
    assert answer.status_code == 201
    run_json = answer.json()
    assert (run_json["state"], run_json["judge"], run_json["selection"]) == (
        "planning",
        "lexical",
        {"texts": "passages"},
    )
    run = JudgeRun.objects.get(pk=run_json["id"])
    assert run.created_by == cast.admin
    fill(run)
    run_json = api("researcher").get(f"{RUNS}{run.pk}/").json()
    assert run_json["state"] == "finished"
    assert (
        run_json["progress"]["done"]
        == run_json["progress"]["planned"]
        == Rating.objects.count()
        == 4
    )
    assert (run_json["n_without_words"], run_json["failures"]) == (4, {})


def test_second_run_of_the_same_judge_is_refused_while_one_is_open(api, dataset):
    client = api("admin")
    start(client)
    repeated = start(client)
    assert repeated.status_code == 409
    assert "is still open" in repeated.json()["detail"]


def test_run_is_paused_resumed_and_cancelled(api, dataset, judge):
    client = api("admin")
    run = runs.start(judge, dataset, Selection())
    JudgeRun.objects.filter(pk=run.pk).update(state="running")
    run_url = f"{RUNS}{run.pk}/"
    assert client.post(run_url + "pause/").json()["state"] == "paused"
    assert client.post(run_url + "pause/").status_code == 409
    resumed = client.post(run_url + "resume/", {"max_pairs": 7}, format="json").json()
    assert (resumed["state"], resumed["max_pairs"]) == ("planning", 7)
    assert client.post(run_url + "cancel/").json()["state"] == "cancelled"
    assert client.post(run_url + "resume/").json()["state"] == "planning"


@pytest.mark.parametrize("step", ["pause", "resume"])
def test_invalid_step_is_refused_with_reason(api, dataset, judge, step):
    run = runs.start(judge, dataset, Selection())
    fill(run)
    answer = api("admin").post(f"{RUNS}{run.pk}/{step}/")
    assert answer.status_code == 409
    assert f"Judge run {run.pk} is finished" in answer.json()["detail"]
    assert api("admin").post(f"{RUNS}{run.pk + 1000}/{step}/").status_code == 404


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"dataset": "nowhere"}, 422, "dataset: there is no dataset called nowhere"),
        ({"judge": "nobody"}, 422, "judge: no judge called nobody judges ferry"),
        ({"topics": ["lost"]}, 422, "ferry has no topic 'lost'."),
        ({"run": "lost"}, 422, "ferry has no run 'lost'; there are: none."),
        ({"depth": 3}, 422, "A depth needs a run: it counts the ranks of its texts."),
        (
            {"endpoint": "http://169.254.0.1/v1"},
            422,
            "endpoint: there is no endpoint called 'http://169.254.0.1/v1'; there are: local",
        ),
        (
            {"judge": "big-model"},
            422,
            "endpoint: there is no endpoint called ''; there are: local",
        ),
        ({"texts": "novels"}, 400, 'texts: "novels" is not a valid choice.'),
        ({"limit": "5"}, 400, "limit: A valid integer is required."),
        (
            {"reply_seconds": 0},
            400,
            "reply_seconds: Ensure this value is greater than or equal to 1.",
        ),
        ({"max_money": -1}, 400, "max_money: Ensure this value is greater than 0."),
        ({"topics": [1]}, 400, "item 0: Not a valid string."),
        ({"budget": 1}, 400, "budget: There is no field of this name."),
    ],
)
def test_invalid_start_is_refused(api, dataset, served_judge, settings, changes, status, detail):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:8001/v1"}
    answer = start(api("admin"), **changes)
    assert (answer.json()["detail"], answer.status_code) == (detail, status)
    assert not JudgeRun.objects.exists()


def test_served_judge_starts_at_a_named_endpoint(api, dataset, served_judge, settings):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:8001/v1"}
    run_json = start(api("admin"), judge="big-model", endpoint="local", max_tokens=10**6).json()
    assert (run_json["endpoint"], run_json["max_tokens"]) == ("local", 10**6)


def test_runs_are_chosen_by_dataset_judge_and_state(
    api, dataset, judge, django_assert_max_num_queries
):
    for state in ("finished", "cancelled", "running"):
        runs.start(judge, dataset, Selection())
        JudgeRun.objects.filter(state="planning").update(state=state)
    client = api("researcher")

    def states(**chosen):
        return [run["state"] for run in client.get(RUNS, chosen).json()["results"]]

    assert states() == ["running", "cancelled", "finished"]
    assert states(dataset="ferry", judge="lexical", state="finished") == ["finished"]
    assert states(dataset="other") == []
    with django_assert_max_num_queries(6):
        client.get(RUNS)


def test_worker_that_died_is_replaced_when_somebody_looks(api, dataset, judge):
    run = runs.start(judge, dataset, Selection())
    waiting = DBTaskResult.objects.filter(task_path=tasks.work.module_path)
    assert not waiting.exists()
    for _ in range(2):
        api("researcher").get(f"{RUNS}{run.pk}/")
    assert waiting.count() == 1


def test_start_that_is_refused_leaves_no_baseline_behind(api, dataset):
    for changes in ({"run": "lost"}, {"endpoint": "nowhere"}):
        assert start(api("admin"), judge="lexical", **changes).status_code == 422
    assert not Judge.objects.exists()
    assert not Rater.objects.filter(name="lexical").exists()


def test_budget_of_zero_is_refused(api, dataset):
    answer = start(api("admin"), judge="lexical", max_money=0)
    assert (answer.status_code, JudgeRun.objects.count()) == (400, 0)


def test_server_address_is_not_exposed(api, dataset, served_judge):
    url = "http://gpu.internal:8000/v1"
    run = runs.start(served_judge, dataset, Selection(), endpoint=url)
    response = api("researcher").get(f"{RUNS}{run.pk}/")
    assert response.json()["endpoint"] == "given by its address"
    assert "internal" not in response.content.decode()
