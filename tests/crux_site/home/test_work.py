"""Work on Home: what to review, what runs, what finished lately."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Campaign, Dataset, LogEntry, Membership, Project, ProjectEntry, Rubric
from crux_site.home.work import finished, running, to_review
from judging.engine.judges import make_judge
from judging.models import Attempt, Batch, JudgeRun
from tests.toolbox.factories import make_campaign
from tests.toolbox.responses import text_of_page
from tests.toolbox.scoring_study import make_study


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def user(cast):
    return cast.researcher


def make_run(dataset, name: str, state: str, **fields) -> JudgeRun:
    rubric = Rubric.objects.get(slug="graded")
    judge = make_judge(name, rubric=rubric, backend="openai", model=name, prompt="{text}")
    return JudgeRun.objects.create(judge=judge, dataset=dataset, state=state, **fields)


def fail_one(run: JudgeRun) -> None:
    batch = Batch.objects.create(run=run, worker="w", n_attempts=3, n_graded=2)
    Attempt.objects.create(
        batch=batch,
        judge=run.judge,
        text=run.dataset.texts.first(),
        question=run.dataset.topics.first().questions.first(),
        state="unparseable",
        failure="no_grade",
    )


def titles(items) -> list[str]:
    return [item.title for item in items]


def move_away(dataset) -> None:
    project = Project.objects.create(slug="other", title="Other")
    Dataset.objects.filter(pk=dataset.pk).update(project=project)


def test_disagreements_are_listed_by_rubric(user, study):
    # See the scores of the study: two pairs of reports, and one of a passage.
    items = to_review(user)
    assert [(item.title, item.url) for item in items] == [
        (
            "2 pairs without a decision",
            "/datasets/ferry/disagreements/?kind=differ&rubric=answerable",
        ),
        ("1 pair without a decision", "/datasets/ferry/disagreements/?kind=differ&rubric=graded"),
    ]
    move_away(study.dataset)
    assert to_review(user) == []


def test_failed_replies_are_listed_while_they_count(user, dataset):
    run = make_run(dataset, "big", "finished", ended=timezone.now())
    fail_one(run)
    (item,) = to_review(user)
    assert (item.title, item.url) == ("1 reply without a grade", f"/judge-runs/{run.pk}/")
    Attempt.objects.update(counts=False)  # a later run has asked again
    assert to_review(user) == []


def test_failures_of_long_ago_are_not_listed(user, dataset):
    fail_one(make_run(dataset, "big", "finished", ended=timezone.now() - timedelta(days=40)))
    assert to_review(user) == []


def test_closed_campaign_on_prolific_is_to_reconcile_by_coordinators(cast, user, dataset):
    campaign = make_campaign(dataset, cast.worker)
    Campaign.objects.update(state="closed", platform="prolific")
    LogEntry.record(campaign, cast.admin, "closed")
    assert to_review(user) == []
    Membership.objects.filter(user=user).update(role="coordinator")
    assert titles(to_review(user)) == [f"Reconcile {campaign.title}"]
    LogEntry.objects.update(at=timezone.now() - timedelta(days=40))
    assert to_review(user) == []


def test_open_campaigns_and_runs_have_progress(cast, user, dataset):
    campaign = make_campaign(dataset, cast.worker, cast.other_worker)
    run = make_run(dataset, "big", "running", n_planned=8)
    make_run(dataset, "small", "finished")
    Batch.objects.create(run=run, worker="w", n_attempts=3, n_graded=2)
    assert [(item.title, item.done, item.total) for item in running(user)] == [
        (campaign.title, 0, 4),
        ("Judge run of big", 3, 8),
    ]
    campaign.participants.first().assignments.filter(item__position=0).update(state="submitted")
    assert running(user)[0].done == 1
    move_away(dataset)
    assert running(user) == []


def test_finished_work_of_the_last_week_is_newest_first(cast, user, dataset):
    moment = timezone.now()
    campaign = make_campaign(dataset, cast.worker)
    Campaign.objects.update(state="closed")
    LogEntry.record(campaign, cast.admin, "closed")
    LogEntry.objects.update(at=moment - timedelta(hours=2))
    run = make_run(dataset, "big", "finished", ended=moment - timedelta(hours=1))
    make_run(dataset, "old", "finished", ended=moment - timedelta(days=8))
    Batch.objects.create(run=run, worker="w", n_attempts=3, n_graded=2)
    ProjectEntry.record(dataset.project, cast.admin, "imported", "2 topics", dataset)
    assert [(item.title, item.detail) for item in finished(user)] == [
        ("Import", "2 topics"),
        ("Judge run of big", "finished; 2 pairs graded, 1 without a grade"),
        (campaign.title, "campaign closed"),
    ]
    move_away(dataset)
    assert finished(user) == []


def test_campaign_opened_again_is_not_finished(cast, user, dataset):
    campaign = make_campaign(dataset, cast.worker)
    LogEntry.record(campaign, cast.admin, "closed")
    assert finished(user) == []


def test_lists_are_cut_and_counted(cast, dataset):
    for n in range(7):
        make_run(dataset, f"judge-{n}", "running")
    text = text_of_page(cast.client("researcher").get("/"))
    assert "Running 7" in text
    assert "The first 5 of 7 are listed." in text
    assert "Nothing waits for you." in text
