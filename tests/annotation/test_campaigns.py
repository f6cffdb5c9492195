"""The pages of those who run studies, and the rubrics' guidelines."""

import pytest

from annotation.models import Campaign, Rubric

NEW = "/campaigns/new/"


def form(dataset, *people, **change):
    return {
        "dataset": dataset.slug,
        "title": "Pilot",
        "slug": "pilot",
        "rubric": Rubric.objects.get(slug="answerable").pk,
        "kind": "report",
        "seed": 1,
        "people": [person.pk for person in people],
    } | change


def test_an_admin_opens_a_study_and_its_raters_see_it(cast, dataset):
    response = cast.client("admin").post(NEW, form(dataset, cast.worker))
    assert response.url == "/campaigns/pilot/"
    campaign = Campaign.objects.get()
    assert campaign.created_by == cast.admin
    assert campaign.items.count() == 2
    assert "Pilot" in cast.client("worker").get("/work/").content.decode()
    assert "Pilot" not in cast.client("other_worker").get("/work/").content.decode()


def test_texts_are_chosen_by_system_and_topic(cast, dataset):
    chosen = {"systems": ["annotated.bm25"], "topics": [dataset.topics.get().pk]}
    cast.client("admin").post(NEW, form(dataset, cast.worker, **chosen))
    assert [item.text.system for item in Campaign.objects.get().items.all()] == ["annotated.bm25"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"title": ""}, "required"),
        ({"slug": "no slug!"}, "valid"),
        ({"people": []}, "required"),
        ({"kind": "poem"}, "Select a valid choice"),
        ({"kind": "reference"}, "No text fits"),
        ({"questions_per_item": "-3"}, "greater than or equal"),
        ({"questions_per_item": "0"}, "at least one question"),
        ({"slug": "new"}, "take another"),
        ({"systems": ["nobody"]}, "Select a valid choice"),
    ],
)
def test_a_bad_form_says_what_is_wrong_and_opens_nothing(cast, dataset, change, says):
    response = cast.client("admin").post(NEW, form(dataset, cast.worker, **change))
    assert response.status_code == 422
    assert says in response.content.decode()
    assert not Campaign.objects.exists()


def test_the_same_address_twice_is_refused(cast, dataset, campaign):
    response = cast.client("admin").post(NEW, form(dataset, cast.worker, slug=campaign.slug))
    assert response.status_code == 422
    assert Campaign.objects.count() == 1


def test_close_and_open_again(cast, campaign):
    client = cast.client("admin")
    client.post("/campaigns/ferry-answerable/state/", {"state": "closed"})
    assert Campaign.objects.get().state == "closed"
    client.post("/campaigns/ferry-answerable/state/", {"state": "nonsense"})
    assert Campaign.objects.get().state == "closed"
    client.post("/campaigns/ferry-answerable/state/", {"state": "open"})
    assert Campaign.objects.get().state == "open"


@pytest.mark.parametrize(
    ("who", "seen", "edited"),
    [("admin", 200, 302), ("researcher", 200, 403), ("worker", 403, 403), ("stranger", 302, 302)],
)
def test_who_may_see_and_who_may_change(cast, campaign, who, seen, edited):
    client = cast.client(who)
    assert client.get("/campaigns/").status_code == seen
    assert client.get("/campaigns/ferry-answerable/").status_code == seen
    response = client.post("/campaigns/ferry-answerable/state/", {"state": "closed"})
    assert response.status_code == edited
    assert (Campaign.objects.get().state == "closed") is (who == "admin")
    new = client.get(f"{NEW}?dataset=ferry")
    assert new.status_code == (200 if who == "admin" else edited)


def test_wrong_methods_and_missing_ids(cast, campaign):
    client = cast.client("admin")
    assert client.post("/campaigns/").status_code == 405
    assert client.get("/campaigns/ferry-answerable/state/").status_code == 405
    assert client.get("/campaigns/nowhere/").status_code == 404
    assert client.get(NEW).status_code == 404
    assert client.post("/rubrics/").status_code == 405
    assert client.get("/rubrics/nowhere/").status_code == 404


def test_an_admin_edits_a_guideline_and_others_read_it(cast, db):
    url = "/rubrics/answerable/"
    response = cast.client("admin").post(url, {"guideline": "## Mine\n\n<script>x</script>"})
    assert response.status_code == 302
    page = cast.client("worker").get(url).content.decode()
    assert "<h2>Mine</h2>" in page
    assert "<script>x" not in page
    assert cast.client("worker").post(url, {"guideline": "no"}).status_code == 403
    assert cast.client("admin").post(url, {"guideline": ""}).status_code == 200
    assert Rubric.objects.get(slug="answerable").guideline.startswith("## Mine")
