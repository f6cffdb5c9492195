"""A study's messages, and to whom its pages are shown."""

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Message, Part, Participant
from annotation.participation import assigning, entry
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.prolific_study import Walker, make_study, terms

PAGES = ["", "begin/", "consent/", "check/", "end/", "leave/", "messages/"]
POSTED = ("begin/", "leave/", "messages/")


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


# Messages


def test_messages_stay_until_they_are_put_away(cast, study, walker):
    first = Message.objects.create(campaign=study, body="Question 3 is clearer now.")
    second = Message.objects.create(campaign=study, body="<b>Thanks</b>")
    page = walker.prepare()
    assert "Question 3 is clearer now." in text_of_page(page)
    assert "&lt;b&gt;Thanks" in page.content.decode()
    walker.client.post(f"{ROOM}messages/", {"newest": first.pk})
    page = text_of_page(walker.client.get(ROOM))
    assert "Question 3" not in page
    assert "Thanks" in page
    walker.client.post(f"{ROOM}messages/", {"newest": second.pk})
    walker.client.post(f"{ROOM}messages/", {"newest": first.pk})  # an older page
    assert "Thanks" not in text_of_page(walker.client.get(ROOM))
    assert walker.participant.seen_message == second.pk


@pytest.mark.parametrize("newest", ["", "x", "-1", "0", "9" * 30, "٣"])
def test_only_a_message_of_the_study_can_be_put_away(study, walker, newest):
    walker.prepare()
    assert walker.client.post(f"{ROOM}messages/", {"newest": newest}).status_code == 404
    elsewhere = Message.objects.create(campaign=make_study("other"), body="x")
    sent = walker.client.post(f"{ROOM}messages/", {"newest": elsewhere.pk})
    assert sent.status_code == 404
    assert walker.participant.seen_message == 0


# Who may see them


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_for_those_who_take_part(cast, study, page):
    send = "post" if page in POSTED else "get"
    for role in ("worker", "researcher", "admin"):
        assert getattr(cast.client(role), send)(ROOM + page).status_code == 404, role
    refused = getattr(Client(), send)(ROOM + page)
    assert (refused.status_code, refused.url.partition("?")[0]) == (302, "/login/")
    walker = Walker(Client(), study)
    walker.agree()
    assert getattr(walker.client, send)(f"/work/in/nowhere/{page}").status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_a_draft_are_not_there(study, page):
    walker = Walker(Client(), study)
    walker.agree()
    study.state = "draft"
    study.save()
    send = "post" if page in POSTED else "get"
    assert getattr(walker.client, send)(ROOM + page).status_code == 404


def test_wrong_methods_are_refused(walker):
    walker.prepare()
    for page in ("", "end/"):
        assert walker.client.post(ROOM + page).status_code == 405
    for page in POSTED:
        assert walker.client.get(ROOM + page).status_code == 405
    for page in ("consent/", "check/"):
        assert walker.client.put(ROOM + page).status_code == 405


def test_part_cannot_begin_before_consent_and_check(walker):
    (participant,) = entry.make_links(walker.campaign, ["Ann"])
    walker.client.force_login(participant.rater.user)
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}consent/"
    walker.client.post(f"{ROOM}consent/", terms(walker.campaign))
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}check/"
    assert not Part.objects.exists()


def test_known_account_sees_its_study_as_before(cast, study):
    participant = assigning.invite(study, assigning.rater_of(cast.worker))
    Participant.objects.filter(pk=participant.pk).update(consented_at=timezone.now())
    study.check_questions.all().delete()
    page = cast.client("worker").get(ROOM)
    assert "On another device, log in there." in text_of_page(page)
    assert "My work" in text_of_page(page)
