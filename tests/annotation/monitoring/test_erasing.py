"""Deleting somebody's personal data: what goes and what stays."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from annotation.models import Answer, Assignment, Campaign, LogEntry, Participant, Rating, User
from annotation.models.campaign import new_salt
from annotation.participation import assigning
from tests.annotation.monitoring.acting_material import HOME, about, logged, post, states
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import Walker, make_study


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=6)


def test_erasing_deletes_the_person_and_keeps_the_labels(cast, study):
    walker = Walker(Client(), study, "5f1d2c3b4a59687786950413")
    walker.prepare()
    walker.begin()
    practice, first, second = walker.in_hand()
    walker.do(practice)
    walker.do(first)
    walker.client.post(f"/work/{second.pk}/skip/", {"note": "I am Jo of Leeds"})
    Answer.objects.filter(assignment=first).update(note="Ask Jo of Leeds.")
    participant = walker.participant
    ratings = Rating.objects.filter(rater=participant.rater).count()
    sessions = Session.objects.count()
    page = post(cast, about(participant, "erase/"), confirm="on", with_notes="on").content.decode()
    assert "The personal data of" in page
    participant.refresh_from_db()
    assert participant.external_id == ""
    assert participant.erased_at is not None
    assert participant.rater.user is None
    assert not User.objects.filter(is_guest=True).exists()
    assert {(s.study_id, s.session_id) for s in participant.parts.all()} == {("", "")}
    assert not Assignment.objects.exclude(note="").exists()
    assert not Answer.objects.exclude(note="").exists()
    assert not participant.assignments.filter(
        slot__isnull=False, state__in=["open", "skipped"]
    ).exists()
    assert Rating.objects.filter(rater=participant.rater).count() == ratings > 0
    assert Session.objects.count() == sessions  # the guest's went, the admin's came
    assert not [s for s in Session.objects.all() if "arrival" in s.get_decoded()]
    assert logged() == [("erased personal data", "notes deleted too", "ada")]
    everything = str(list(LogEntry.objects.values()))
    assert "5f1d2c3b4a59687786950413" not in everything
    assert "Leeds" not in everything
    page = post(cast, about(participant, "erase/"), confirm="on").content.decode()
    assert "already deleted" in page
    post(cast, about(participant, "readmit/"))
    participant.refresh_from_db()
    assert participant.outcome != ""


def test_erasing_keeps_notes_unless_asked_and_the_pages_go_on(cast, study):
    people = participant_states.fill(study)
    for participant in people.values():
        post(cast, about(participant, "erase/"), confirm="on")
    assert Assignment.objects.exclude(note="").count() == 1
    assert not Participant.objects.exclude(external_id="").exists()
    for path in ("", "participants/", "log/", "invitations/"):
        page = cast.client("admin").get(HOME + path)
        assert page.status_code == 200
        assert "pid-" not in page.content.decode()
        assert "Maria" not in page.content.decode()


def test_account_outlives_the_erasure_of_its_stay(cast, study):
    participant = assigning.invite(study, assigning.rater_of(cast.worker))
    Participant.objects.update(external_id="W. Il, room 3", consented_at=timezone.now())
    assigning.begin_part(participant)
    page = cast.client("admin").get(HOME + about(participant)).content.decode()
    assert "The account wil is kept" in page
    post(cast, about(participant, "erase/"), confirm="on")
    participant.refresh_from_db()
    assert participant.external_id == ""
    assert participant.rater.user == cast.worker
    assert states(participant) == ["open"] * 3


def test_with_another_key_no_list_of_ids_leads_to_a_pseudonym(cast, study):
    walker = Walker(Client(), study)
    walker.prepare()
    participant = walker.participant
    post(cast, about(participant, "erase/"), confirm="on")
    assert walker.arrive().status_code == 403  # recognised, by the key
    Campaign.objects.filter(pk=study.pk).update(salt=new_salt())
    assert walker.arrive().status_code == 200
    assert walker.agree().status_code == 200
    second_participant = Participant.objects.exclude(pk=participant.pk).get()
    assert second_participant.rater.name != participant.rater.name
