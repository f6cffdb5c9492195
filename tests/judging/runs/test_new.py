"""Starting a run in the browser: counted first, then started; and all that can be wrong."""

import pytest
from django_tasks_db.models import DBTaskResult

from evaluation.models import RankedText, RetrievalRun
from judging.engine.judges import baseline_of
from judging.models import Attempt, Judge, JudgeRun
from tests.toolbox.factories import make_dataset
from tests.toolbox.judging_runs import a_judge, a_run, n_wakes

NEW = "/judge-runs/new/"


def form(**change):
    return {
        "dataset": "ferry",
        "judge": "baseline",
        "texts": "",
        "concurrency": "64",
        "workers": "1",
        "price_in": "0",
        "price_out": "0",
    } | change


@pytest.fixture
def start(cast, dataset, settings, django_capture_on_commit_callbacks):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}

    def start(**change):
        with django_capture_on_commit_callbacks(execute=True):
            return cast.client("admin").post(NEW, form(**change) | {"start": "1"})

    return start


def test_baseline_is_started_and_a_worker_is_called(cast, start):
    response = start()
    run = JudgeRun.objects.get()
    assert response.url == f"/judge-runs/{run.pk}/"
    assert (run.state, run.judge.is_baseline, run.created_by) == ("planning", True, cast.admin)
    assert n_wakes(run) == 1


def test_all_that_the_form_says_is_kept(cast, start, dataset):
    judge = a_judge()
    ranking = RetrievalRun.objects.create(dataset=dataset, name="bm25")
    topic = dataset.topics.get()
    RankedText.objects.create(
        run=ranking, topic=topic, text=dataset.texts.get(name="ferry-1:0#0"), rank=1, score=1
    )
    start(
        judge=str(judge.pk),
        texts="passages",
        run="bm25",
        depth="5",
        topics="ferry-1\r\n\r\nferry-1\r\n",
        limit="7",
        endpoint="local",
        concurrency="8",
        reply_seconds="240",
        workers="2",
        max_pairs="100",
        max_tokens="2000",
        max_money="1.5",
        price_in="0.1",
        price_out="0.3",
        currency="EUR",
    )
    run = JudgeRun.objects.get()
    assert run.selection == {
        "texts": "passages",
        "topics": ["ferry-1"],
        "run": "bm25",
        "depth": 5,
        "limit": 7,
    }
    assert (run.endpoint, run.concurrency, run.workers) == ("local", 8, 2)
    assert run.reply_seconds == 240
    assert (run.max_pairs, run.max_tokens, run.max_money) == (100, 2000, 1.5)
    assert (run.price_in, run.price_out, run.currency) == (0.1, 0.3, "EUR")


def test_counting_first_starts_nothing(cast, dataset, settings):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    judge = a_judge()
    sent = form(judge=str(judge.pk), endpoint="local", price_in="2", price_out="8", count="1")
    response = cast.client("admin").post(NEW, sent)
    page = response.content.decode()
    assert response.status_code == 200
    assert "8 pairs to send" in page
    assert "4 cannot be sent, because a text is missing" in page
    assert "prompt tokens" in page
    assert "at these prices" in page
    assert not JudgeRun.objects.exists()
    assert not Attempt.objects.exists()
    assert f'<option value="{judge.pk}" selected>' in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": ""}, "required"),
        ({"judge": "999"}, "valid choice"),
        ({"texts": "poems"}, "valid choice"),
        ({"run": "nowhere"}, "valid choice"),
        ({"topics": "ferry-2"}, "ferry has no topic &#x27;ferry-2&#x27;."),
        ({"depth": "3"}, "A depth needs a retrieval run"),
        ({"depth": "0"}, "greater than or equal to 1"),
        ({"limit": "-1"}, "greater than or equal to 1"),
        ({"limit": "99999999999"}, "less than or equal to"),
        ({"endpoint": "http://evil.example/v1"}, "valid choice"),
        ({"endpoint": "local"}, "The baseline needs no server"),
        ({"concurrency": "0"}, "greater than or equal to 1"),
        ({"workers": "many"}, "whole number"),
        ({"reply_seconds": "0"}, "greater than or equal to 1"),
        ({"reply_seconds": "100000"}, "less than or equal to 86400"),
        ({"max_pairs": "0"}, "greater than or equal to 1"),
        ({"max_money": "5"}, "Enter the prices of tokens"),
        ({"max_money": "inf"}, "Enter a number"),
        ({"price_in": "-1"}, "greater than or equal to 0"),
        ({"currency": "euro"}, "Three capital letters"),
    ],
)
def test_invalid_field_has_an_error_and_starts_nothing(start, change, message):
    response = start(**change)
    page = response.content.decode()
    assert response.status_code == 422
    assert message in page
    (name,) = change
    assert f'id="id_{name}_error"' in page
    assert page.count(" autofocus") == 1
    assert not JudgeRun.objects.exists()
    assert not DBTaskResult.objects.exists()


def test_judge_behind_a_server_needs_one(start):
    page = start(judge=str(a_judge().pk)).content.decode()
    assert "needs a server: choose one" in page
    assert 'id="id_endpoint_error"' in page


def test_second_open_run_of_a_judge_is_refused_with_a_link(start, dataset):
    judge = a_judge()
    run = a_run(judge, dataset)
    response = start(judge=str(judge.pk), endpoint="local")
    page = response.content.decode()
    assert response.status_code == 422
    assert f"Judge run {run.pk} of tiny-judge on ferry is still open" in page
    assert f'<a href="/judge-runs/{run.pk}/">Open judge run {run.pk}</a>' in page
    assert JudgeRun.objects.count() == 1


def test_judge_of_the_address_is_chosen(cast, dataset):
    judge = a_judge()
    page = cast.client("admin").get(f"{NEW}?dataset=ferry&judge={judge.pk}").content.decode()
    assert f'<option value="{judge.pk}" selected>' in page
    page = cast.client("admin").get(f"{NEW}?dataset=ferry&judge=x").content.decode()
    assert '<option value="baseline" selected>' in page


def test_baseline_of_another_dataset_is_not_offered(cast, dataset):
    baseline_of(make_dataset("other"))
    page = cast.client("admin").get(f"{NEW}?dataset=ferry").content.decode()
    assert page.count("lexical") == 1
    assert str(Judge.objects.get().pk) not in page.split('id="id_judge"')[1].split("</select>")[0]
