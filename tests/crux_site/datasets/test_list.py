"""datasets/: every dataset, and what is going on in it."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Membership, Project, Rater, Rating, Rubric
from judging.engine.judges import make_judge
from judging.models import JudgeRun
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.responses import text_of_page


def judge(dataset, name: str, state: str) -> JudgeRun:
    rubric = Rubric.objects.get(slug="graded")
    new_judge = make_judge(name, rubric=rubric, backend="openai", model=name, prompt="{text}")
    return JudgeRun.objects.create(judge=new_judge, dataset=dataset, state=state)


def test_list_shows_running_work_and_unrated_datasets(cast, dataset):
    make_dataset("harbour")
    open_one = make_campaign(dataset, cast.worker)
    closed = make_campaign(dataset, cast.worker, rubric="graded", kind="passage")
    closed.title, closed.state = "Over and done", "closed"
    closed.save()
    running, _paused = judge(dataset, "big", "running"), judge(dataset, "small", "paused")
    page = cast.client("researcher").get("/datasets/")
    text = text_of_page(page)
    assert f"Open campaign: {open_one.title}" in text
    assert f'href="/judge-runs/{running.pk}/"' in page.content.decode()
    assert "Judging now: big" in text
    assert "Judging now: small" not in text
    assert "Over and done" not in text
    assert text.count("Nobody has rated a text of it yet") == 2


def test_links_to_results_where_there_are_some(cast, dataset):
    Rating.objects.create(
        rater=Rater.objects.create(dataset=dataset, name="ann", kind="human"),
        rubric=Rubric.objects.get(slug="answerable"),
        text=dataset.texts.first(),
        question=dataset.topics.get().questions.first(),
        grade=1,
    )
    page = cast.client("researcher").get("/datasets/").content.decode()
    assert 'href="/datasets/ferry/agreement/"' in page
    assert "Nobody has rated" not in page


def test_more_datasets_take_no_more_queries(cast, dataset):
    def n_queries() -> int:
        client = cast.client("researcher")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get("/datasets/")
        return len(queries)

    before = n_queries()
    for number in range(5):
        make_dataset(f"another-{number}")
    assert n_queries() == before


def test_empty_site_offers_three_doors_to_an_admin(cast):
    page = cast.client("admin").get("/datasets/").content.decode()
    assert 'href="/import/">Import a table</a>' in page
    assert '<form method="post" action="/demo/">' in page
    assert 'href="/campaigns/">Invite annotators</a>' in page
    assert 'href="/people/">People</a>' in page


def test_owner_without_datasets_has_doors_without_the_demo(cast):
    client = cast.client("researcher")
    assert "Their owners can import one." in text_of_page(client.get("/datasets/"))
    project = Project.objects.create(slug="mine", title="Mine")
    Membership.objects.create(project=project, user=cast.researcher, role="owner")
    page = client.get("/datasets/").content.decode()
    assert 'href="/import/">Import a table</a>' in page
    assert "/demo/" not in page
    assert client.get("/import/").status_code == 200


def test_site_with_datasets_has_no_doors(cast, dataset):
    page = cast.client("admin").get("/datasets/").content.decode()
    assert "Where do you want to start?" not in page
    assert "/demo/" not in page


def test_import_is_linked_for_owners_alone(cast, dataset):
    client = cast.client("researcher")
    assert "/import/" not in client.get("/datasets/").content.decode()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    page = client.get("/datasets/").content.decode()
    assert 'href="/import/">Import a study</a>' in page
