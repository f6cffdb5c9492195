"""Generation runs on a model server of the project: rights, budget, hosts, charges."""

from dataclasses import asdict

import pytest

from annotation.models import Membership, Project, User
from annotation.models.projects import main_project
from building.engine import writings
from building.engine.fill import fill
from building.engine.generation_spec import GenerationSpec
from building.models import Writer, Writing
from building.writing.tasks import TASKS
from judging.engine.endpoints import address_of
from judging.execution import states
from judging.llm.errors import BackendError
from judging.models import AllowedHost, Endpoint, ProjectBudget
from tests.toolbox.generation_pages import ROOT, of
from tests.toolbox.generation_runs import PROMPTS, a_writer, make_collection, questions
from tests.toolbox.model_servers import KEY, client_of, fields
from tests.toolbox.scripted_server import MODEL, ScriptedServer, reply_with

NEW, WRITER = f"{ROOT}new-writing/questions/", f"{ROOT}new-writer/questions/"
GPU = "project:main/gpu"


@pytest.fixture
def server():
    with ScriptedServer() as server:
        for topic in ("a", "b"):
            server.script(topic, reply_with(questions(1, 2)))
        yield server


@pytest.fixture
def dataset(db):
    return make_collection()


@pytest.fixture
def owner(dataset):
    user = User.objects.create_user("olga", role="researcher")
    Membership.objects.create(project_id=main_project(), user=user, role="owner")
    return client_of("olga")


@pytest.fixture
def endpoint(owner, server):
    AllowedHost.objects.create(host="127.0.0.1", allows_http=True, allows_private=True)
    added = owner.post("/projects/main/servers/new/", fields(url=server.url))
    assert added.status_code == 302, added.context["form"].errors
    return Endpoint.objects.get()


@pytest.fixture
def budget(endpoint):
    return ProjectBudget.objects.create(
        project=endpoint.project, max_tokens=1_000_000, max_money=10, currency="EUR"
    )


@pytest.fixture
def writer(owner):
    """The writer that an owner has created on the page."""
    sampling = asdict(TASKS["questions"].sampling)
    numbers = {name: sampling[name] for name in ("temperature", "top_p", "max_tokens")}
    typed = {"slug": "mine", "backend": "openai", "model": MODEL, "prompt": PROMPTS["questions"]}
    created = owner.post(WRITER, typed | numbers)
    assert created.status_code == 302, created.context["form"].errors
    return Writer.objects.get(slug="mine")


def sent(**change):
    form = {"writer": "mine", "topics": "", "n": "2", "samples": "1", "concurrency": "1"}
    return {**form, "endpoint": GPU, "start": ""} | change


def test_owner_writes_on_the_server_of_the_project(owner, budget, writer, server, cast):
    assert owner.post(NEW, sent(price_in="0.001")).status_code == 302
    run = Writing.objects.get()
    prices = (run.price_in, run.price_out, run.currency)
    assert (run.project_budget, *prices) == (budget, 1, 2, "EUR")
    fill(run)
    run.refresh_from_db()
    assert (run.state, run.note) == ("finished", "")
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in server.headers)
    budget.refresh_from_db()
    spending = run.spending()
    read, written = spending.prompt_tokens, spending.completion_tokens
    assert budget.spent_tokens == read + written > 0
    assert budget.spent_money == pytest.approx(run.money(read, written))
    page = owner.get(of(run)).content.decode()
    assert KEY not in page
    # The owner decides what becomes of it.
    product = run.orders.first().drafts.first().products.first()
    decided = owner.post(f"{ROOT}products/{product.pk}/decide/", {"decision": "accept"})
    assert decided.status_code == 302
    product.refresh_from_db()
    assert product.decision == "accepted"


def test_without_a_budget_nothing_is_written(owner, endpoint, writer):
    refused = owner.post(NEW, sent())
    assert refused.status_code == 422
    assert "no budget for its own model servers" in refused.content.decode()
    assert not Writing.objects.exists()


def test_writing_stops_when_the_budget_is_used_up_and_goes_on_with_a_larger_one(
    owner, budget, writer
):
    owner.post(NEW, sent())
    run = Writing.objects.get()
    ProjectBudget.objects.update(max_tokens=1, spent_tokens=1)
    fill(run)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert "is used up" in run.note
    assert run.spending().requests == 0
    owner.post(of(run, "resume/"))
    run.refresh_from_db()
    assert run.state == "stopped"
    ProjectBudget.objects.update(max_tokens=None)
    owner.post(of(run, "resume/"))
    run.refresh_from_db()
    fill(run)
    run.refresh_from_db()
    assert run.state == "finished"


def test_host_that_is_taken_off_the_list_pauses_the_writing(owner, budget, writer, server):
    owner.post(NEW, sent())
    AllowedHost.objects.all().delete()
    run = Writing.objects.get()
    with pytest.raises(BackendError, match="Ask an admin of the site to allow it"):
        fill(run)
    run.refresh_from_db()
    assert run.state == "paused"
    assert server.headers == []


def test_owner_cannot_use_servers_of_the_site_or_of_another_project(
    owner, budget, writer, settings
):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    for name in ("local", "http://127.0.0.1:9/v1", "project:other/gpu"):
        refused = owner.post(NEW, sent(endpoint=name))
        assert refused.status_code == 422
        assert "endpoint" in refused.context["form"].errors
    assert not Writing.objects.exists()


def test_owner_cannot_load_a_model_into_a_worker_of_the_site(owner, budget, writer):
    a_writer(slug="in-process", backend="vllm", model="m2")
    refused = owner.post(NEW, sent(writer="in-process", endpoint=""))
    assert "writer" in refused.context["form"].errors
    typed = {"slug": "other", "backend": "vllm", "model": "m", "prompt": PROMPTS["questions"]}
    refused = owner.post(WRITER, typed | {"temperature": "1", "top_p": "1", "max_tokens": "9"})
    assert "backend" in refused.context["form"].errors


def test_writers_of_other_projects_are_not_offered(owner, budget):
    a_writer(slug="theirs", model="m2")
    refused = owner.post(NEW, sent(writer="theirs"))
    assert "writer" in refused.context["form"].errors


def test_owner_acts_on_writings_of_the_project_alone(owner, budget, writer, cast, settings):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    started = cast.client("admin").post(NEW, sent(endpoint="local"))
    assert started.status_code == 302
    run = Writing.objects.get()
    for act in ("pause", "resume", "cancel", "ask-again"):
        assert owner.post(of(run, f"{act}/")).status_code == 403
    run.refresh_from_db()
    assert run.state == "running"
    assert f"{of(run)}pause/" not in owner.get(of(run)).content.decode()


def test_owner_pauses_and_cancels_a_writing_of_the_project(owner, budget, writer):
    owner.post(NEW, sent())
    run = Writing.objects.get()
    for act, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        assert owner.post(of(run, f"{act}/")).status_code == 302
        run.refresh_from_db()
        assert run.state == state


def test_owner_of_another_project_finds_nothing(owner, budget, writer, dataset):
    user = User.objects.create_user("otto", role="researcher")
    second_project = Project.objects.create(slug="other", title="Another group")
    Membership.objects.create(project=second_project, user=user, role="owner")
    otto = client_of("otto")
    assert otto.get(NEW).status_code == 404
    assert otto.post(NEW, sent()).status_code == 404
    assert not Writing.objects.exists()


def test_dataset_that_moved_leaves_the_servers_of_its_project(owner, budget, writer, dataset):
    owner.post(NEW, sent())
    dataset.project = Project.objects.create(slug="other", title="Another group")
    dataset.save(update_fields=["project"])
    run = Writing.objects.get()
    with pytest.raises(BackendError, match="belongs to"):
        fill(run)
    run.refresh_from_db()
    assert run.state == "paused"


def test_resumed_on_another_server_it_is_charged_no_more(endpoint, budget, writer, dataset):
    run = writings.start(writer, dataset, GenerationSpec(n=2), endpoint=GPU)
    states.pause(run)
    writings.resume(run, endpoint=address_of(endpoint).url)
    run.refresh_from_db()
    assert (run.project_budget, run.price_in, run.currency) == (None, 0, "")
