"""A new writer, a new writing, and one as it goes."""

from dataclasses import asdict

import pytest
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from annotation.models import SubQuestion
from building import tasks
from building.engine import writings
from building.engine.choosing import baseline_of
from building.engine.fill import fill
from building.models import Draft, Writer, Writing
from building.writing.tasks import TASKS
from tests.toolbox.generation_pages import HOSTILE_TEXT, ROOT, SCRIPT, a_writing, of
from tests.toolbox.generation_runs import (
    PROMPTS,
    a_writer,
    add_run,
    make_collection,
    questions,
    started,
)
from tests.toolbox.responses import markup
from tests.toolbox.scripted_server import reply_with

NEW, WRITER = f"{ROOT}new-writing/questions/", f"{ROOT}new-writer/questions/"


@pytest.fixture
def dataset(db):
    return make_collection()


@pytest.fixture
def admin(cast):
    return cast.client("admin")


def sent(**fields):
    """Return the form data for two questions by the baseline."""
    return {
        "writer": "",
        "topics": "",
        "n": "2",
        "samples": "1",
        "endpoint": "",
        "concurrency": "8",
    } | fields


def described(**fields):
    sampling = asdict(TASKS["questions"].sampling)
    numbers = {name: sampling[name] for name in ("temperature", "top_p", "max_tokens")}
    definition = {"slug": "mine", "backend": "openai", "model": "m", "prompt": PROMPTS["questions"]}
    return {**definition, **numbers} | fields


def test_look_writes_nothing_and_shows_what_is_asked_first(admin, dataset):
    response = admin.post(NEW, sent(look=""))
    assert response.status_code == 200
    page = markup(response)
    assert "2 tasks." in page
    assert "a\nDocument 0." in page
    assert 'name="start"' in page
    assert not Writing.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_start_leads_to_the_writing_and_wakes_a_worker(admin, dataset, cast):
    response = admin.post(NEW, sent(start="", topics=" a\r\n"))
    run = Writing.objects.get()
    assert response.url == of(run)
    assert (run.created_by, run.n_planned, run.state) == (cast.admin, 1, "running")
    waiting = DBTaskResult.objects.filter(status=TaskResultStatus.READY)
    assert waiting.filter(task_path=tasks.write.module_path).count() == 1


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"writer": "nobody"}, "writer", "not one of the available choices"),
        ({"n": "0"}, "n", "greater than or equal to 1"),
        ({"n": "x"}, "n", "Enter a whole number"),
        ({"n": "9" * 5_000}, "n", "whole number"),
        ({"samples": "101"}, "samples", "less than or equal to 100"),
        ({"samples": ""}, "samples", "required"),
        ({"concurrency": "0"}, "concurrency", "greater than or equal to 1"),
        ({"max_messages": "-1"}, "max_messages", "greater than or equal to 1"),
        ({"max_money": "nan"}, "max_money", "Enter a number"),
        ({"endpoint": "http://elsewhere/v1"}, "endpoint", "not one of the available choices"),
        ({"topics": "a\x00"}, "topics", "Null characters"),
    ],
)
def test_error_is_shown_at_its_field(admin, dataset, fields, field, message):
    response = admin.post(NEW, sent(start="", **fields))
    assert response.status_code == 422
    page = markup(response)
    assert message in page
    assert f'id="id_{field}_error"' in page
    assert not Writing.objects.exists()


@pytest.mark.parametrize(
    ("task", "fields", "message"),
    [
        ("questions", {"topics": "a zebra"}, "There is no topic “zebra”. There are: a, b."),
        ("questions", {"topics": SCRIPT}, "There is no topic"),
        ("questions", {"max_money": "1"}, "A budget of money needs prices"),
        ("report", {"run": "bm25", "context_tokens": "9", "k": "many"}, "a number from 1"),
        ("report", {"run": "bm25", "context_tokens": "9", "length": "long"}, "is no length"),
    ],
)
def test_spec_unfit_for_the_dataset_is_reported(admin, dataset, task, fields, message):
    add_run(dataset)
    response = admin.post(f"{ROOT}new-writing/{task}/", sent(start="", **fields))
    assert response.status_code == 422
    assert message in markup(response)
    assert SCRIPT not in response.content.decode()
    assert not Writing.objects.exists()


def test_model_needs_a_server(admin, dataset, settings):
    settings.JUDGE_ENDPOINTS = {"lab": "http://127.0.0.1:9/v1"}
    a_writer()
    response = admin.post(NEW, sent(start="", writer="writer"))
    assert response.status_code == 422
    assert "This writer needs a server: choose one." in markup(response)
    assert admin.post(NEW, sent(start="", writer="writer", endpoint="lab")).status_code == 302


def test_model_that_the_worker_loads_needs_none(admin, cast, dataset, settings):
    settings.JUDGE_ENDPOINTS = {"lab": "http://127.0.0.1:9/v1"}
    fields = {"backend": "vllm", "revision": "abc", "template_hash": "0" * 64}
    assert admin.post(WRITER, described(**fields)).url == NEW
    page = markup(admin.get(f"{ROOT}writers/mine/"))
    for text in ("vLLM in process", "m, abc", "0" * 64):
        assert text in page
    response = admin.post(NEW, sent(start="", writer="mine", endpoint="lab"))
    assert response.status_code == 422
    assert "vLLM in process needs no server: choose none." in markup(response)
    assert not Writing.objects.exists()
    assert admin.post(NEW, sent(start="", writer="mine")).status_code == 302


def test_tuned_model_is_made_by_command_and_shows_its_adapter(admin, cast, dataset, settings):
    settings.JUDGE_ENDPOINTS = {"lab": "http://127.0.0.1:9/v1"}
    fields = {"backend": "transformers", "adapter": f"/{SCRIPT}", "adapter_hash": "0" * 64}
    response = admin.post(WRITER, described(backend="transformers"))
    assert response.status_code == 422
    a_writer(slug="tuned", **fields)
    response = admin.get(f"{ROOT}writers/tuned/")
    assert "transformers in process" in markup(response)
    assert "0" * 64 in markup(response)
    assert SCRIPT not in response.content.decode()
    response = admin.post(NEW, sent(start="", writer="tuned", endpoint="lab"))
    assert response.status_code == 422
    assert "transformers in process needs no server: choose none." in markup(response)
    assert admin.post(NEW, sent(start="", writer="tuned")).status_code == 302


def test_while_a_writing_is_open_another_of_its_writer_is_refused(admin, dataset):
    run = started(baseline_of("questions"), dataset)
    response = admin.post(NEW, sent(start=""))
    assert response.status_code == 422
    assert f"Generation run {run.pk} of extractive-questions is still open" in markup(response)


def test_reports_from_the_request_alone_have_no_baseline(admin, dataset):
    response = admin.get(f"{ROOT}new-writing/direct/")
    assert "extractive" not in markup(response)
    response = admin.post(f"{ROOT}new-writing/direct/", sent(start=""))
    assert response.status_code == 422
    assert 'id="id_writer_error"' in markup(response)


def test_writer_is_made_once_and_shows_all_that_shapes_it(admin, cast, dataset):
    response = admin.post(WRITER, described(prompt=f"{PROMPTS['questions']} {HOSTILE_TEXT}"))
    assert response.url == NEW
    writer = Writer.objects.get()
    assert (writer.slug, writer.task, writer.backend) == ("mine", "questions", "openai")
    assert writer.created_by == cast.admin
    response = admin.get(f"{ROOT}writers/mine/")
    assert writer.fingerprint in markup(response)
    assert SCRIPT not in response.content.decode()
    response = admin.post(WRITER, described(slug="other", prompt=writer.prompt))
    assert response.status_code == 422
    assert "The writer mine has exactly the same settings." in markup(response)
    response = admin.post(WRITER, described(model="another"))
    assert "The name mine is taken" in markup(response)
    assert Writer.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"slug": ""}, "slug", "required"),
        ({"slug": "a b"}, "slug", "valid"),
        ({"slug": "x" * 121}, "slug", "at most 120"),
        ({"backend": "extractive"}, "backend", "not one of the available choices"),
        ({"template_hash": "x" * 65}, "template_hash", "at most 64"),
        ({"model": ""}, "model", "required"),
        ({"model": "x" * 251}, "model", "at most 250"),
        ({"prompt": ""}, "prompt", "required"),
        ({"prompt": "Write {n}."}, "prompt", "does not show the document"),
        ({"prompt": "{document} {words}"}, "prompt", "{words} is not a placeholder"),
        ({"temperature": "3"}, "temperature", "less than or equal to 2"),
        ({"temperature": "inf"}, "temperature", "Enter a number"),
        ({"top_p": "0"}, "top_p", "greater than or equal to 0.01"),
        ({"max_tokens": "0"}, "max_tokens", "greater than or equal to 1"),
    ],
)
def test_invalid_writer_is_reported_at_its_field(admin, dataset, fields, field, message):
    response = admin.post(WRITER, described(**fields))
    assert response.status_code == 422
    page = markup(response)
    assert message in page
    assert f'id="id_{field}_error"' in page
    assert not Writer.objects.exists()


def test_names_of_baselines_are_kept_for_them(admin, dataset):
    response = admin.post(WRITER, described(slug="extractive-passages"))
    assert response.status_code == 422
    assert "are those of baselines" in markup(response)


def test_writing_as_it_goes(admin, dataset, cast):
    run = started(baseline_of("questions"), dataset)
    page = markup(cast.client("researcher").get(of(run)))
    assert "<strong>0</strong> of 2 tasks" in page
    assert "No worker is running" in page
    fill(run)
    response = admin.get(of(run), headers={"HX-Request": "true"})
    page = markup(response)
    assert "<html" not in page
    assert "<strong>2</strong> of 2 tasks" in page
    assert "Review 20" in page
    assert "hx-get" not in page
    assert response.headers["Vary"].count("HX-Request") == 1


def test_look_at_a_writing_wakes_a_worker_once(admin, dataset):
    run = started(baseline_of("questions"), dataset)
    for _ in range(3):
        admin.get(of(run))
    assert DBTaskResult.objects.filter(task_path=tasks.write.module_path).count() == 1


def test_replies_are_shown_as_they_came_and_as_words(admin, dataset, server):
    server.script("a", reply_with(f"{HOSTILE_TEXT} <q>x"))
    server.script("b", reply_with(questions(1, 2)))
    run = started(a_writer(), dataset, server, {"n": 2})
    fill(run)
    content = admin.get(of(run)).content.decode()
    assert SCRIPT not in content
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in content
    page = markup(admin.get(of(run)))
    assert "There are fewer outputs than requested." in page
    assert "Incomplete tasks" in page
    assert f"{writings.progress_of(run)['missing']} requested output" in page
    assert "Retry failed tasks" in page


def test_pause_resume_cancel_and_resume(admin, dataset):
    run = started(baseline_of("questions"), dataset)
    for act, state in (
        ("pause", "paused"),
        ("resume", "running"),
        ("cancel", "cancelled"),
        ("resume", "running"),
    ):
        assert admin.post(of(run, f"{act}/")).url == of(run)
        run.refresh_from_db()
        assert run.state == state
    page = markup(admin.post(of(run, "resume/"), follow=True))
    assert "cannot be resumed" in page


@pytest.fixture
def stopped(dataset, server):
    """Stopped by its budget of one message."""
    for name in ("a", "b"):
        server.script(name, reply_with(questions(1, 2)))
    run = started(a_writer(), dataset, server, {"n": 2}, max_messages=1)
    fill(run)
    assert run.state == "stopped"
    return run


def test_writing_that_its_budget_stopped_goes_on_with_a_larger_one(admin, cast, stopped):
    page = markup(admin.get(of(stopped)))
    assert "The budget of 1 message is spent." in page
    assert 'name="max_messages" value="1"' in page
    response = admin.post(of(stopped, "resume/"), {"max_messages": "2", "max_tokens": ""})
    assert response.url == of(stopped)
    stopped.refresh_from_db()
    assert (stopped.state, stopped.max_messages, stopped.max_tokens) == ("running", 2, None)
    fill(stopped)
    assert stopped.state == "finished"
    assert "max_messages" not in markup(admin.get(of(stopped)))
    assert "max_messages" not in markup(cast.client("researcher").get(of(stopped)))


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (
            {"max_messages": "1"},
            "The budget of 1 message is spent. Set a larger budget to continue.",
        ),
        ({"max_messages": "0"}, "greater than or equal to 1"),
        ({"max_messages": "9", "max_money": "5"}, "A budget of money needs prices"),
        ({"max_tokens": "x"}, "Enter a whole number"),
        ({}, "Set a larger budget to continue."),
    ],
)
def test_budget_that_cannot_be_is_said_and_changes_nothing(admin, stopped, sent, message):
    response = admin.post(of(stopped, "resume/"), sent, follow=True)
    assert response.status_code == (422 if sent else 200)
    assert message in markup(response)
    stopped.refresh_from_db()
    assert (stopped.state, stopped.max_messages, stopped.max_money) == ("stopped", 1, None)


def test_empty_field_lifts_a_limit(admin, stopped):
    admin.post(of(stopped, "resume/"), {"max_messages": ""})
    stopped.refresh_from_db()
    assert (stopped.state, stopped.max_messages) == ("running", None)


def test_failed_orders_are_retried(admin, dataset, server):
    server.script("a", reply_with("No tags."))
    run = started(a_writer(), dataset, server, {"n": 2, "topics": ("a",)})
    fill(run)
    second = started(run.writer, dataset, server, {"topics": ("b",)})
    page = markup(admin.post(of(run, "ask-again/"), follow=True))
    assert f"Generation run {second.pk} of writer is still open" in page
    Writing.objects.filter(pk=second.pk).update(state="cancelled")
    admin.post(of(run, "ask-again/"))
    run.refresh_from_db()
    assert run.state == "running"
    fill(run)
    assert Draft.objects.filter(order__run=run).count() == 3


def test_address_of_a_server_stays_with_the_machine(admin, dataset, server, cast):
    server.script("a", reply_with(questions(1)))
    run = started(a_writer(), dataset, server, {"topics": ("a",)})
    page = cast.client("researcher").get(of(run)).content.decode()
    assert server.url not in page
    assert "given by its address" in page


def test_spec_of_a_run_is_shown(admin):
    run = a_writing("report", k="2", length="words:50")
    page = markup(admin.get(of(run)))
    assert "Context: passages of bm25, 2 for each topic, at most 2500 tokens." in page
    assert "Length: words:50." in page
    assert not SubQuestion.objects.exists()
