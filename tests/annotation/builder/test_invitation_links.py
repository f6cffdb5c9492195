"""Coming in by a link of one's own, and the way back to a platform."""

from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client, RequestFactory
from django.utils import timezone

from annotation.models import Participant
from annotation.monitoring import actions
from annotation.participation import entry
from tests.toolbox.prolific_study import PID, make_study


@pytest.fixture
def study(db):
    return make_study()


def link(participant):
    return entry.link_of(participant, RequestFactory().get("/")).removeprefix("http://testserver")


def test_links_are_made_for_names_and_for_nobody_in_particular(study):
    participants = entry.make_links(study, ["Ann", "", ""])
    assert [(participant.source, participant.external_id) for participant in participants] == [
        ("link", "Ann"),
        ("link", ""),
        ("link", ""),
    ]
    assert len({participant.rater.name for participant in participants}) == 3
    assert all(participant.rater.name.startswith("w-") for participant in participants)
    assert len({link(participant) for participant in participants}) == 3
    assert entry.make_links(study, ["Ann"]) == participants[:1]


def test_link_brings_its_person_in_on_any_device(study):
    (participant,) = entry.make_links(study, ["Ann"])
    for client in (Client(), Client()):
        response = client.get(link(participant))
        assert (response.status_code, response.url) == (302, "/work/in/crowd/")
        assert int(client.session["_auth_user_id"]) == participant.rater.user_id


def test_link_that_was_forged_or_is_foreign_is_not_found(cast, study):
    participant, other_participant = entry.make_links(study, ["Ann", "Ben"])
    arrived = entry.get_or_create_participant(study, PID)
    signature = link(participant).strip("/").rpartition(".")[2]
    tokens = [
        f"{other_participant.pk}.{signature}",
        f"{participant.pk}",
        f"{participant.pk}.",
        "x.y",
        signing.Signer(sep=".").sign(str(participant.pk)),  # for another purpose
        entry._SIGNER.sign("999999"),
        entry._SIGNER.sign(str(arrived.pk)),  # came from the platform, has no link
        entry._SIGNER.sign("nobody"),
        entry._SIGNER.sign("9" * 40),
        entry._SIGNER.sign(f"{participant.pk}-x"),
        entry._SIGNER.sign("-1"),
    ]
    for token in tokens:
        client = Client()
        assert client.get(f"/invited/{token}/").status_code == 404, token
        assert "_auth_user_id" not in client.session
    actions.erase(participant, cast.admin, with_notes=False)
    assert Client().get(link(participant)).status_code == 404


def test_link_ends_and_a_new_one_lets_in(study):
    (participant,) = entry.make_links(study, ["Ann"], timezone.now() + timedelta(days=3))
    first = link(participant)
    assert Client().get(first).status_code == 302
    Participant.objects.update(link_until=timezone.now())
    client = Client()
    page = client.get(first)
    assert page.status_code == 403
    assert "This link has ended. Ask for a new one." in page.content.decode()
    assert "return your submission" not in page.content.decode()  # who has a link has none
    assert "_auth_user_id" not in client.session
    entry.renew_link(participant, None)
    assert Client().get(link(participant)).status_code == 302
    assert "This link was replaced by a newer one" in Client().get(first).content.decode()


def test_link_of_before_there_were_serials_holds_until_there_is_a_newer_one(study):
    (participant,) = entry.make_links(study, ["Ann"])
    old = f"/invited/{entry._SIGNER.sign(str(participant.pk))}/"
    assert Client().get(old).status_code == 302
    entry.renew_link(participant, None)
    assert Client().get(old).status_code == 403


def test_existing_link_of_a_name_is_unchanged(study):
    (participant,) = entry.make_links(study, ["Ann"])
    until = timezone.now() + timedelta(days=3)
    existing, new = entry.make_links(study, ["Ann", "Ben"], until)
    assert (existing.pk, link(existing), existing.link_until) == (
        participant.pk,
        link(participant),
        None,
    )
    new.refresh_from_db()
    assert new.link_until == until


def test_link_into_a_draft_is_refused_as_too_early(study):
    (participant,) = entry.make_links(study, ["Ann"])
    study.state = "draft"
    study.save()
    response = Client().get(link(participant))
    assert response.status_code == 403
    assert "has not been opened yet" in response.content.decode()


def test_link_of_a_returned_participant_explains_the_return(cast, study):
    (participant,) = entry.make_links(study, ["Ann"])
    study.consent = ""
    study.save()
    actions.return_participant(participant, cast.admin)
    page = Client().get(link(participant), follow=True).content.decode()
    assert "The researchers ended your work" in page


def test_staff_who_try_a_link_out_stay_who_they_are(cast, study):
    (participant,) = entry.make_links(study, ["Ann"])
    client = cast.client("researcher")
    assert "participant’s way in" in client.get(link(participant)).content.decode()
    assert int(client.session["_auth_user_id"]) == cast.researcher.pk


# The way back


@pytest.mark.parametrize(
    ("options", "code", "is_done", "url"),
    [
        ({}, "C 1", True, "https://app.prolific.com/submissions/complete?cc=C%201"),
        ({}, "", True, ""),
        ({"platform": "mturk"}, "C1", True, ""),
        ({"platform": ""}, "C1", True, ""),
        (
            {"platform": "sona", "completion_url": "https://x.sona-systems.com/c?s={worker}"},
            "",
            True,
            "https://x.sona-systems.com/c?s=W%2F1",
        ),
        (
            {"platform": "sona", "completion_url": "https://x.sona-systems.com/c?s={worker}"},
            "SCREEN1",
            False,
            "",
        ),
        ({"completion_url": "https://x.org/{code}"}, "C1", False, "https://x.org/C1"),
        ({"completion_url": "https://x.org/{code}"}, "", True, ""),
    ],
)
def test_way_back(db, options, code, is_done, url):
    study = make_study(**options)
    assert entry.completion_redirect_url(study, code, "W/1", is_done=is_done) == url
