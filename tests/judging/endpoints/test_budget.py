"""Budget of a project: set by admins, checked at the start, and its end stops the run."""

import threading

import pytest
from django.db import connection

from annotation.models import Project, ProjectEntry
from annotation.models.projects import main_project
from judging.engine import runs
from judging.engine.selection import Selection
from judging.execution import states
from judging.models import Attempt, JudgeRun, ProjectBudget
from judging.models.endpoint import budget_of
from judging.tasks import work
from tests.toolbox.judging_runs import a_judge
from tests.toolbox.model_servers import fields

BUDGET = "/projects/main/servers/budget/"
NEW = "/judge-runs/new/"
ENDPOINT = "project:main/gpu"


def started(client, dataset, judge, **change):
    form = {"dataset": dataset.slug, "judge": judge, "concurrency": 2, "workers": 1, "start": "1"}
    return client.post(NEW, form | change)


@pytest.fixture
def judge(db):
    """A judge that no project has yet."""
    return a_judge()


@pytest.fixture
def mine(judge, dataset):
    """The judge, visible in the project of the dataset."""
    judge.projects.add(dataset.project)
    return judge


def test_without_a_budget_only_the_baseline_can_run(owner, endpoint, dataset, mine):
    refused = started(owner, dataset, mine.pk, endpoint=ENDPOINT)
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "no budget for its own model servers" in page
    assert "An admin of the site" in page
    assert not JudgeRun.objects.exists()
    assert started(owner, dataset, "baseline").status_code == 302


def test_admin_sets_the_budget_and_an_owner_reads_it(cast, owner, endpoint, dataset):
    sent = {"max_tokens": "5000", "max_money": "2.5", "currency": "EUR"}
    assert owner.post(BUDGET, sent).status_code == 403
    assert cast.client("admin").post(BUDGET, sent).status_code == 302
    budget = ProjectBudget.objects.get()
    assert (budget.max_tokens, budget.max_money, budget.currency) == (5000, 2.5, "EUR")
    assert "5,000" in owner.get("/projects/main/servers/").content.decode()
    assert ProjectEntry.objects.get(action="set the judging budget").detail == (
        "5,000 tokens, 2.50 EUR"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"max_tokens": "-1"},
        {"max_tokens": "x"},
        {"max_money": "nan"},
        {"max_money": "1"},
        {"max_tokens": str(2**63)},
    ],
)
def test_wrong_budget_is_refused(cast, endpoint, dataset, change):
    assert cast.client("admin").post(BUDGET, change).status_code == 422
    assert not budget_of(endpoint.project).is_open


def test_run_stops_when_the_budget_is_used_up(owner, endpoint, budget, dataset, mine):
    ProjectBudget.objects.update(max_tokens=1)
    started(owner, dataset, mine.pk, endpoint=ENDPOINT, concurrency=1)
    run = JudgeRun.objects.get()
    work.func(run.pk)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert "is used up" in run.note
    budget.refresh_from_db()
    assert budget.spent_tokens >= 1
    # It goes on only with a larger budget.
    assert owner.post(f"/judge-runs/{run.pk}/resume/").status_code == 302
    run.refresh_from_db()
    assert run.state == "stopped"
    ProjectBudget.objects.update(max_tokens=None)
    owner.post(f"/judge-runs/{run.pk}/resume/")
    work.func(run.pk)
    run.refresh_from_db()
    assert run.state == "finished"


def test_spending_stays_when_the_dataset_is_deleted(owner, endpoint, budget, dataset, mine):
    started(owner, dataset, mine.pk, endpoint=ENDPOINT)
    work.func(JudgeRun.objects.get().pk)
    budget.refresh_from_db()
    tokens = budget.spent_tokens
    assert tokens > 0
    Attempt.objects.all().delete()
    JudgeRun.objects.all().delete()
    budget.refresh_from_db()
    assert budget.spent_tokens == tokens


@pytest.mark.parametrize(
    ("prices", "reason"),
    [
        ({"price_in": "0", "price_out": "0", "currency": ""}, "has no price"),
        ({"currency": "USD"}, "both must be the same"),
    ],
)
def test_budget_of_money_needs_prices_in_its_currency(
    owner, endpoint, budget, dataset, mine, prices, reason
):
    changed = owner.post(
        f"/projects/main/servers/{endpoint.pk}/", fields(url=endpoint.url, key="", **prices)
    )
    assert changed.status_code == 302
    refused = started(owner, dataset, mine.pk, endpoint=ENDPOINT)
    assert reason in refused.content.decode()
    assert not JudgeRun.objects.exists()


def test_owner_cannot_give_prices_of_a_run(owner, endpoint, budget, dataset, mine):
    started(owner, dataset, mine.pk, endpoint=ENDPOINT, price_in="0.0001", price_out="0.0001")
    run = JudgeRun.objects.get()
    assert (run.price_in, run.price_out) == (1, 2)


def test_owner_cannot_use_the_servers_of_the_environment(
    owner, endpoint, budget, dataset, mine, settings
):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    for server in ("local", "http://127.0.0.1:9/v1", "project:other/gpu"):
        refused = started(owner, dataset, mine.pk, endpoint=server)
        assert refused.status_code == 422
        assert "endpoint" in refused.context["form"].errors
    assert not JudgeRun.objects.exists()


def test_owner_does_not_see_judges_of_others(owner, endpoint, budget, dataset, judge):
    assert owner.get(f"/judges/{judge.pk}/").status_code == 404
    assert started(owner, dataset, judge.pk, endpoint=ENDPOINT).status_code == 422
    assert not JudgeRun.objects.exists()


def test_runs_of_the_site_are_not_an_owners_to_pause(owner, dataset, judge, settings):
    run = runs.start(judge, dataset, Selection())
    for act in ("pause", "cancel", "resume", "retry"):
        answer = owner.post(f"/judge-runs/{run.pk}/{act}/")
        assert answer.status_code == 403
        assert "an admin of the site can" in answer.content.decode()
    run.refresh_from_db()
    assert run.state == "planning"


def test_owner_cancels_a_run_of_the_project(owner, endpoint, budget, dataset, mine):
    started(owner, dataset, mine.pk, endpoint=ENDPOINT)
    run = JudgeRun.objects.get()
    assert owner.post(f"/judge-runs/{run.pk}/cancel/").status_code == 302
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_members_who_are_no_owners_are_told_who_can(cast, dataset):
    rosa = cast.client("researcher")
    for path in (f"{NEW}?dataset={dataset.slug}", "/judges/new/"):
        answer = rosa.get(path)
        assert answer.status_code == 403
        assert "owners of" in answer.content.decode()


def test_dataset_that_moved_leaves_the_servers_of_its_project(
    other_owner, endpoint, budget, dataset, mine
):
    run = runs.start(mine, dataset, Selection(), endpoint=ENDPOINT)
    assert run.project_budget == budget
    dataset.project = Project.objects.get(slug="other")
    dataset.save(update_fields=["project"])
    work.func(run.pk)
    run.refresh_from_db()
    assert run.state == "paused"
    assert "belongs to" in run.note


@pytest.mark.django_db(transaction=True)
def test_charges_of_two_workers_are_both_counted(cast):
    budget = ProjectBudget.objects.create(project_id=main_project(), max_tokens=10)

    def charge():
        for _ in range(20):
            ProjectBudget.charge(budget.pk, 1, 0.5)
        connection.close()

    threads = [threading.Thread(target=charge) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    budget.refresh_from_db()
    assert (budget.spent_tokens, budget.spent_money) == (40, 20)


def test_run_is_refused_by_the_engine_too(endpoint, dataset, mine):
    with pytest.raises(states.RunStateError, match="no budget"):
        runs.start(mine, dataset, Selection(), endpoint=ENDPOINT)


def test_owner_tests_a_judge_within_the_budget_of_the_project(
    owner, endpoint, budget, dataset, mine
):
    started(owner, dataset, mine.pk, endpoint=ENDPOINT)
    work.func(JudgeRun.objects.get().pk)
    budget.refresh_from_db()
    tokens, n_attempts = budget.spent_tokens, Attempt.objects.count()
    page = f"/judges/{mine.pk}/tests/"
    typed = {"dataset": dataset.slug, "test": "repeat", "pairs": 2, "repeats": 2, "seed": 0}
    assert owner.get(page).context["form"].fields["endpoint"].initial == ENDPOINT
    assert owner.post(page, typed | {"endpoint": ENDPOINT, "start": 1}).status_code == 302
    run = JudgeRun.objects.exclude(test="").get()
    work.func(run.pk)
    run.refresh_from_db()
    assert (run.state, run.project_budget_id) == ("finished", budget.pk)
    assert run.test_replies.count() == 4
    budget.refresh_from_db()
    assert budget.spent_tokens > tokens
    assert Attempt.objects.count() == n_attempts
    ProjectBudget.objects.update(max_tokens=1)
    refused = owner.post(page, typed | {"endpoint": ENDPOINT, "start": 1})
    assert refused.status_code == 422
    assert "is used up" in refused.content.decode()
