"""datasets/<slug>/texts/: topics, texts by kind and system, retrieval runs."""

import pytest

from annotation.models import Dataset, Membership, Rating, Topic
from tests.crux_site.projects.shared import make_shared_world, share, visitor
from tests.crux_site.projects.site_addresses import client_of
from tests.toolbox.responses import text_of_page
from tests.toolbox.scoring_study import make_study

URL = "/datasets/ferry/texts/"


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def study(db):
    return make_study()


def test_texts_page_permissions(cast, study):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(URL).status_code == status
    rosa = cast.client("researcher")
    assert rosa.post(URL).status_code == 405
    assert rosa.get("/datasets/nowhere/texts/").status_code == 404
    Membership.objects.filter(user=cast.researcher).delete()
    assert rosa.get(URL).status_code == 404


def test_topics_have_counts_and_a_link_to_their_matrix(rosa, study):
    response = rosa.get(URL)
    page = text_of_page(response)
    assert "2 topics with 5 sub-questions, 1 of them filtered." in page
    assert "7 passages, 2 reports; 2 retrieval runs." in page
    # ferry-1 has four questions, one filtered, five passages and two reports.
    assert "ferry-1 Write about the ferry. 4 1 5 2" in page
    assert f'href="/datasets/ferry/matrix/{study.topic.pk}/"' in response.content.decode()


def test_runs_and_systems_are_listed(rosa, study):
    response = rosa.get(URL)
    assert "report annotated.bm25 1 0" in text_of_page(response)
    assert 'href="/datasets/ferry/systems/runs/dense/"' in response.content.decode()
    Rating.objects.all().delete()  # of runs without scores, the page has how they were made
    assert 'href="/datasets/ferry/building/runs/dense/"' in rosa.get(URL).content.decode()


def test_actions_depend_on_the_role(cast, study):
    offered = ["Import", "Add topic", "Add text", "Rename, replace, remove", "Sub-question"]
    client = cast.client("researcher")
    assert not [name for name in offered if f">{name}<" in client.get(URL).content.decode()]
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    page = client.get(URL).content.decode()
    assert [name for name in offered if f">{name}<" in page] == offered
    assert "New retrieval run" not in page
    assert "New retrieval run" in cast.client("admin").get(URL).content.decode()


def test_empty_dataset(rosa, db):
    Dataset.objects.create(slug="empty", title="Empty")
    page = text_of_page(rosa.get("/datasets/empty/texts/"))
    assert "0 topics with 0 sub-questions. No texts; 0 retrieval runs." in page
    assert "There are no topics." in page
    assert "There are no texts." in page
    assert "There are no runs." in page


def test_topics_are_on_pages(rosa, study):
    Topic.objects.bulk_create(
        Topic(dataset=study.dataset, name=f"more-{n}", request="More.", position=2 + n)
        for n in range(60)
    )
    assert "more-50" not in text_of_page(rosa.get(URL))
    last = text_of_page(rosa.get(f"{URL}?page=2"))
    assert "more-59" in last
    assert "51 to 62 of 62" in last
    assert rosa.get(f"{URL}?page=x").status_code == 200


@pytest.mark.parametrize("with_text", [False, True])
def test_shared_link_shows_requests_only_with_texts(db, with_text):
    make_shared_world()
    client = visitor(share(client_of("owner"), with_words=with_text))
    response = client.get("/datasets/ferry/texts/")
    assert response.status_code == 200
    assert ("zqrequest" in response.content.decode()) == with_text
    assert "Work with the texts" not in response.content.decode()
    assert client.get("/datasets/harbour/texts/").status_code == 404
