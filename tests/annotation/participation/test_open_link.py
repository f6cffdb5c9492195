"""Joining by the open link of a campaign: anyone, and nothing is stored before they agree."""

import pytest
from django.core import signing
from django.test import Client, RequestFactory
from django.utils import translation

from annotation.models import Assignment, Campaign, LogEntry, Participant, User
from annotation.participation import entry
from tests.toolbox.prolific_study import join_by_open_link as join
from tests.toolbox.prolific_study import make_study
from tests.toolbox.prolific_study import open_link as link
from tests.toolbox.responses import markup


@pytest.fixture
def study(db):
    study = make_study(training=0)
    study.check_questions.all().delete()
    Campaign.objects.update(platform="", admits_anyone=True)
    study.refresh_from_db()
    return study


def test_each_person_who_agrees_becomes_a_guest(study):
    page = markup(Client().get(link(study)))
    assert "are paid for each part." in page
    assert "We store nothing about you." in page
    assert not Participant.objects.exists()
    first, second = join(study), join(study)
    participants = Participant.objects.all()
    assert [participant.source for participant in participants] == ["link", "link"]
    assert all(participant.consented_at for participant in participants)
    assert len({participant.rater.name for participant in participants}) == 2
    for client in (first, second):
        begun = client.post(f"/work/in/{study.slug}/begin/")
        assert client.get(begun.url).status_code == 200
    assert Assignment.objects.exists()


def test_person_who_declines_leaves_nothing(study):
    page = markup(Client().post(link(study), {"decision": "decline"}))
    assert "You did not agree, and that is fine" in page
    assert not Participant.objects.exists()
    assert not User.objects.filter(is_guest=True).exists()


@pytest.mark.parametrize("sent", [{}, {"decision": ""}, {"decision": "perhaps"}])
def test_incomplete_answer_is_refused(study, sent):
    response = Client().post(link(study), sent)
    assert response.status_code == 422
    assert "Please choose one of the two." in markup(response)
    assert not Participant.objects.exists()


def test_person_who_joined_goes_on_by_the_link_and_by_the_personal_link(study):
    client = join(study)
    assert client.get(link(study)).url == f"/work/in/{study.slug}/"
    assert client.post(link(study), {"decision": "agree"}).url == f"/work/in/{study.slug}/"
    assert Participant.objects.count() == 1
    personal = entry.link_of(Participant.objects.get(), RequestFactory().get("/"))
    assert personal in markup(client.get(f"/work/in/{study.slug}/"))
    assert Client().get(personal).url == f"/work/in/{study.slug}/"
    client.logout()
    client.cookies["guest"] = study.slug
    assert "Was it you?" in markup(client.get(link(study)))
    assert "open your personal link" in markup(client.get(f"/work/in/{study.slug}/", follow=True))


def test_personal_link_is_displayed_to_those_of_the_open_link_alone(study):
    (ann,) = entry.make_links(study, ["Ann"])
    client = Client()
    client.get(entry.link_of(ann, RequestFactory().get("/")))
    page = markup(client.get(f"/work/in/{study.slug}/", follow=True))
    assert "/invited/" not in page


def test_account_takes_part_as_itself(cast, study):
    client = join(study, cast.client("worker"))
    participant = Participant.objects.get()
    assert (participant.source, participant.rater.user) == ("account", cast.worker)
    assert int(client.session["_auth_user_id"]) == cast.worker.pk
    assert "guest" not in client.cookies
    assert "/invited/" not in markup(client.get(f"/work/in/{study.slug}/"))


def test_guest_of_another_campaign_joins_as_another_person(study):
    client = join(study)
    second_study = make_study("other", training=0)
    Campaign.objects.filter(pk=second_study.pk).update(platform="", admits_anyone=True)
    second_study.check_questions.all().delete()
    join(second_study, client)
    assert len(set(Participant.objects.values_list("rater", flat=True))) == 2


@pytest.mark.parametrize("role", ["researcher", "admin"])
def test_staff_do_not_join(cast, study, role):
    client = cast.client(role)
    for response in (client.get(link(study)), client.post(link(study), {"decision": "agree"})):
        assert "annotation/participation/arrival_staff.html" in {
            template.name for template in response.templates
        }
    assert not Participant.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"admits_anyone": False}, "This link has ended. Ask for a new one."),
        ({"state": "draft"}, "This study has not been opened yet."),
        ({"state": "paused"}, "This study is paused for the moment."),
        ({"state": "closed"}, "This study is over."),
    ],
)
def test_campaign_that_admits_nobody_says_so(study, change, message):
    Campaign.objects.update(**change)
    for response in (Client().get(link(study)), Client().post(link(study), {"decision": "agree"})):
        assert response.status_code == 403
        assert message in markup(response)
    assert not Participant.objects.exists()


def test_link_that_ended_lets_those_who_joined_continue(study):
    client = join(study)
    Campaign.objects.update(admits_anyone=False)
    assert client.get(link(study)).url == f"/work/in/{study.slug}/"
    assert client.get(f"/work/in/{study.slug}/").status_code == 200


def test_campaign_without_free_places_admits_nobody(study):
    Campaign.objects.update(raters_per_item=1, items_per_part=None)
    join(study).post(f"/work/in/{study.slug}/begin/")
    response = Client().get(link(study))
    assert response.status_code == 403
    assert "All places in this study are taken." in markup(response)


def test_forged_or_foreign_token_is_not_found(study):
    (personal,) = entry.make_links(study, [""])
    signature = link(study).strip("/").rpartition(".")[2]
    tokens = [
        f"{study.pk}",
        f"{study.pk}.",
        f"{study.pk + 1}.{signature}",
        signing.Signer(sep=".").sign(str(study.pk)),  # for another purpose
        entry._SIGNER.sign(f"{personal.pk}-0"),
        entry._OPEN_SIGNER.sign("999999"),
        entry._OPEN_SIGNER.sign("9" * 40),
        entry._OPEN_SIGNER.sign("nobody"),
    ]
    for token in tokens:
        assert Client().get(f"/take-part/{token}/").status_code == 404, token
    assert Client().put(link(study)).status_code == 405
    assert Client().get(f"/invited/{link(study).split('/')[2]}/").status_code == 404


def test_open_link_needs_a_valid_form(study):
    client = Client(enforce_csrf_checks=True)
    assert client.post(link(study), {"decision": "agree"}).status_code == 403
    assert not Participant.objects.exists()


def test_arrivals_are_throttled(study, settings, monkeypatch):
    monkeypatch.setattr("annotation.throttling.Arrivals.allow_request", lambda *_: False)
    monkeypatch.setattr("annotation.throttling.Arrivals.wait", lambda _: 30)
    response = Client().get(link(study))
    assert (response.status_code, response.headers["Retry-After"]) == (429, "30")


def test_pages_are_in_the_language_of_the_campaign(study):
    Campaign.objects.update(language="de")
    with translation.override("de"):
        page = markup(Client().get(link(study)))
    assert "Wir speichern nichts über Sie." in page


def test_only_coordinators_see_the_link(cast, study):
    page = f"/campaigns/{study.slug}/invitations/"
    assert link(study) in markup(cast.client("admin").get(page))
    assert cast.client("researcher").get(page).status_code == 403
    assert cast.client("worker").get(page).status_code == 403


def test_coordinator_stops_and_restarts_the_link(cast, study):
    Campaign.objects.update(code_done="", code_screened_out="", code_failed_check="", contact="")
    admin, later = cast.client("admin"), f"/campaigns/{study.slug}/edit/later/"
    admin.post(later, {"contact": "", "feedback": "never"})
    study.refresh_from_db()
    assert not study.admits_anyone
    assert link(study) not in markup(admin.get(f"/campaigns/{study.slug}/invitations/"))
    admin.post(later, {"contact": "", "feedback": "never", "admits_anyone": "on"})
    study.refresh_from_db()
    assert study.admits_anyone
    assert [entry.detail for entry in LogEntry.objects.all()] == ["admits_anyone"] * 2
