"""Forms of coordinators that are sent twice, or from a page that is older than the draft."""

import re

import pytest

from annotation.models import Campaign, Participant, Rubric
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.responses import markup
from tests.toolbox.users import make_cast

NEW = "/campaigns/new/"


def hidden(page, name, part="<body"):
    return re.search(rf'name="{name}" value="([^"]*)"', markup(page).split(part, 1)[-1])[1]


def new_campaign(client, dataset, **change):
    form_id = hidden(client.get(f"{NEW}?dataset={dataset.slug}"), "form_id", "new-campaign")
    sent = {
        "dataset": dataset.slug,
        "form_id": form_id,
        "audience": "colleagues",
        "title": "Pilot",
        "rubric": Rubric.objects.get(slug="answerable").pk,
        "kind": "report",
        "names": "Ann",
    }
    return sent | change


@pytest.mark.parametrize("change", [{}, {"title": ""}, {"slug": "of-my-own"}])
def test_new_campaign_that_is_sent_twice_is_one_draft(cast, dataset, change):
    admin = cast.client("admin")
    sent = new_campaign(admin, dataset, **change)
    first, second = (admin.post(NEW, sent, follow=True) for _ in range(2))
    assert first.redirect_chain == second.redirect_chain
    assert "This draft was created by the form that you sent before." in markup(second)
    assert Campaign.objects.count() == 1
    assert Participant.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Main study"},
        {"names": "Ann\nBob\nCleo"},
        {"raters_per_item": "2"},
        {"kind": "passage", "title": ""},
    ],
)
def test_form_that_is_sent_again_with_another_value_is_another_draft(cast, dataset, change):
    admin = cast.client("admin")
    sent = new_campaign(admin, dataset)
    for values in (sent, sent | change):
        assert admin.post(NEW, values).status_code == 302
    assert Campaign.objects.count() == 2


def test_equal_form_of_a_new_page_is_another_draft(cast, dataset):
    admin = cast.client("admin")
    for _ in range(2):
        admin.post(NEW, new_campaign(admin, dataset))
    assert Campaign.objects.filter(title="Pilot").count() == 2


def test_draft_of_a_form_that_was_deleted_is_created_again(cast, dataset):
    admin = cast.client("admin")
    sent = new_campaign(admin, dataset)
    admin.post(NEW, sent)
    Campaign.objects.all().delete()
    admin.post(NEW, sent)
    assert Campaign.objects.count() == 1


def test_form_without_an_id_is_not_compared(cast, dataset):
    admin = cast.client("admin")
    sent = new_campaign(admin, dataset, form_id="")
    for _ in range(2):
        assert admin.post(NEW, sent).status_code == 302
    assert Campaign.objects.count() == 2


def test_refused_form_of_a_new_campaign_keeps_its_id(cast, dataset):
    admin = cast.client("admin")
    sent = new_campaign(admin, dataset, audience="")
    assert hidden(admin.post(NEW, sent), "form_id", "new-campaign") == sent["form_id"]


def test_copy_that_is_sent_twice_is_one_draft(cast, campaign):
    admin = cast.client("admin")
    copy = f"/campaigns/{campaign.slug}/copy/"
    page = admin.get(f"/campaigns/{campaign.slug}/edit/review/")
    sent = {"form_id": hidden(page, "form_id", copy)}
    first, second = (admin.post(copy, sent, follow=True) for _ in range(2))
    assert first.redirect_chain == second.redirect_chain
    assert "You have made this copy already." in markup(second)
    assert Campaign.objects.count() == 2
    page = admin.get(f"/campaigns/{campaign.slug}/edit/review/")
    admin.post(copy, {"form_id": hidden(page, "form_id", copy)})
    assert Campaign.objects.count() == 3


def test_draft_that_has_changed_since_is_not_deleted(admin, draft):
    review = f"/campaigns/{draft.slug}/edit/review/"
    discard = f"/campaigns/{draft.slug}/edit/discard/"
    version = hidden(admin.get(review), "version", discard)
    Campaign.objects.update(guideline="Written in another tab")
    refused = admin.post(discard, {"version": version}, follow=True)
    assert "The draft was not deleted, because it has changed" in markup(refused)
    assert Campaign.objects.exists()
    admin.post(discard, {"version": hidden(admin.get(review), "version", discard)})
    assert not Campaign.objects.exists()


def test_links_without_names_that_are_sent_twice_are_created_once(cast, campaign):
    admin, page_url = cast.client("admin"), f"/campaigns/{campaign.slug}/invitations/"
    sent = {"number": "3", "newest": hidden(admin.get(page_url), "newest")}
    assert admin.post(page_url, sent).status_code == 302
    refused = admin.post(page_url, sent)
    assert refused.status_code == 422
    assert "Links were created since you opened the page: see the list." in markup(refused)
    links = campaign.participants.filter(source="link")
    assert links.count() == 3
    sent["newest"] = hidden(refused, "newest")
    assert admin.post(page_url, sent).status_code == 302
    assert links.count() == 6


def test_names_that_are_sent_twice_keep_their_links(cast, campaign):
    admin, page_url = cast.client("admin"), f"/campaigns/{campaign.slug}/invitations/"
    sent = {"names": "Ann", "newest": hidden(admin.get(page_url), "newest")}
    for _ in range(2):
        assert admin.post(page_url, sent).status_code == 302
    assert campaign.participants.filter(source="link").count() == 1


@pytest.mark.django_db(transaction=True)
def test_forms_that_are_sent_twice_at_once_create_one_draft():
    cast, dataset = make_cast(), make_dataset()
    campaign = make_campaign(dataset, cast.worker)
    clients = [cast.client("admin"), cast.client("admin")]
    clients[1].cookies = clients[0].cookies  # two tabs of one browser
    sent = new_campaign(clients[0], dataset)
    outcomes = at_once(*(lambda client=client: client.post(NEW, sent) for client in clients))
    assert [outcome.status for outcome in outcomes] == [302, 302]
    assert Campaign.objects.filter(title="Pilot").count() == 1
    copy = f"/campaigns/{campaign.slug}/copy/"
    sent = {"form_id": "of the page"}
    outcomes = at_once(*(lambda client=client: client.post(copy, sent) for client in clients))
    assert [outcome.status for outcome in outcomes] == [302, 302]
    assert Campaign.objects.filter(title__endswith="(copy)").count() == 1
