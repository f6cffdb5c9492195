"""The list of studies, a new one, and a copy."""

import pytest

from annotation.models import Assignment, Campaign, Participant, Rubric
from tests.toolbox.campaign_builder import open_it

NEW = "/campaigns/new/"


def form(dataset, *people, **change):
    return {
        "dataset": dataset.slug,
        "audience": "colleagues",
        "title": "Pilot",
        "rubric": Rubric.objects.get(slug="answerable").pk,
        "kind": "report",
        "people": [person.pk for person in people],
    } | change


def test_study_among_colleagues_takes_one_form_and_its_opening(cast, dataset):
    admin = cast.client("admin")
    response = admin.post(NEW, form(dataset, cast.worker, cast.other_worker))
    assert response.url == "/campaigns/pilot/edit/review/"
    campaign = Campaign.objects.get()
    assert (campaign.state, campaign.created_by) == ("draft", cast.admin)
    assert campaign.items.count() == 1  # of two reports of equal words
    assert campaign.raters_per_item == 2
    assert "Pilot" not in cast.client("worker").get("/work/").content.decode()
    open_it(admin, campaign)
    for name in ("worker", "other_worker"):
        client = cast.client(name)
        assert "Pilot" in client.get("/work/").content.decode()
        client.post("/work/in/pilot/begin/")
    assert Assignment.objects.filter(state="open").count() == 2


def test_draft_without_people_says_that_nobody_is_invited(cast, dataset):
    response = cast.client("admin").post(NEW, form(dataset), follow=True)
    assert response.redirect_chain == [("/campaigns/pilot/edit/review/", 302)]
    assert "Nobody is invited yet." in response.content.decode()
    assert Campaign.objects.get().raters_per_item == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"audience": ""}, "Choose who will annotate."),
        ({"audience": "everybody"}, "Select a valid choice"),
        ({"names": "n" * 201}, "Name 1 is longer than 200 characters."),
        ({"names": "\n".join(map(str, range(501)))}, "500 names at a time at most"),
        ({"raters_per_item": "0"}, "greater than or equal to 1"),
        ({"raters_per_item": "40000"}, "less than or equal to 32767"),
        ({"audience": "link", "minutes": "121"}, "less than or equal to 120"),
        ({"audience": "prolific", "pay": "-1"}, "greater than or equal to 0"),
        ({"audience": "prolific", "pay": "9"}, "Say how many minutes a text takes"),
        ({"title": "t" * 201}, "at most 200 characters"),
        ({"slug": "no slug!"}, "valid"),
        ({"people": [999_999]}, "valid choice"),
        ({"kind": "poem"}, "Select a valid choice"),
        ({"kind": "reference"}, "No text can be assigned; none was chosen"),
        ({"rubric": "999999"}, "Select a valid choice"),
        ({"slug": "new"}, "take another"),
    ],
)
def test_invalid_form_is_refused_with_a_message(cast, dataset, change, message):
    response = cast.client("admin").post(NEW, form(dataset, cast.worker) | change)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert not Campaign.objects.exists()
    assert not Participant.objects.exists()


def test_same_address_twice_is_refused(cast, dataset, campaign):
    response = cast.client("admin").post(NEW, form(dataset, cast.worker, slug=campaign.slug))
    assert response.status_code == 422
    assert Campaign.objects.count() == 1


def test_repeated_title_gets_another_slug(cast, dataset):
    client = cast.client("admin")
    client.post(NEW, form(dataset))
    client.post(NEW, form(dataset))
    assert set(Campaign.objects.values_list("slug", flat=True)) == {"pilot", "pilot-2"}


def test_newest_campaign_comes_first(cast, dataset, campaign):
    client = cast.client("admin")
    client.post(NEW, form(dataset))
    page = client.get("/campaigns/").content.decode()
    assert page.index("/campaigns/pilot/") < page.index("/campaigns/ferry-answerable/")


def test_lists_mark_pilots_and_lead_a_draft_to_its_review(cast, campaign):
    Campaign.objects.update(is_pilot=True, state="draft")
    for path in ("/campaigns/", "/campaigns/?dataset=ferry"):
        page = cast.client("researcher").get(path).content.decode()
        assert '<span class="tag">pilot</span>' in page
        assert "/campaigns/ferry-answerable/edit/review/" in page


@pytest.mark.parametrize(
    ("role", "is_visible", "edited"),
    [("admin", 200, 302), ("researcher", 200, 403), ("worker", 403, 403), ("stranger", 302, 302)],
)
def test_draft_permissions_by_role(cast, campaign, role, is_visible, edited):
    client = cast.client(role)
    assert client.get("/campaigns/").status_code == is_visible
    assert client.get("/campaigns/ferry-answerable/").status_code == is_visible
    assert client.get(f"{NEW}?dataset=ferry").status_code == (200 if role == "admin" else edited)
    reply = client.post(NEW, form(campaign.dataset, cast.worker))
    assert reply.status_code == edited
    assert Campaign.objects.count() == (2 if role == "admin" else 1)


def test_wrong_methods_and_missing_ids(cast, campaign):
    client = cast.client("admin")
    assert client.post("/campaigns/").status_code == 405
    assert client.delete(NEW).status_code == 405
    assert client.get("/campaigns/nowhere/").status_code == 404
    assert client.get(NEW).status_code == 404
    assert client.post(NEW, {"dataset": "nowhere"}).status_code == 404
