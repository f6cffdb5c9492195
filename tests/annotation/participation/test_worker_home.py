"""Study page of a worker: progress of the next text, hourly pay, contact, and leaving."""

from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from annotation.builder import drafts
from annotation.models import Answer, Campaign, LogEntry, Participant
from annotation.participation import assigning, pay_rate
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import RIGHT, Walker, make_study
from tests.toolbox.responses import markup


@pytest.fixture
def study(db):
    return make_study(raters_per_item=9)


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


@pytest.fixture
def at_work(walker):
    walker.prepare()
    walker.begin()
    return walker


def account(cast, study):
    """A worker with an account in the study, past its consent and check, and their client."""
    participant = assigning.invite(study, assigning.rater_of(cast.worker))
    current_time = timezone.now()
    Participant.objects.filter(pk=participant.pk).update(
        consented_at=current_time, checked_at=current_time
    )
    return cast.client("worker")


# How far


def test_study_page_shows_progress_of_the_next_text(at_work):
    assert "Next is report 1, with 2 questions." in text_of_page(at_work.client.get(ROOM))
    practice = at_work.in_hand()[0]
    first = practice.item.asked.first().question_id
    at_work.client.post(f"/work/{practice.pk}/answers/{first}/", {"key": uuid4(), "grade": 0})
    page = text_of_page(at_work.client.get(ROOM))
    assert "Next is report 1, where you have answered 1 of 2 questions." in page
    at_work.do(practice)
    following = at_work.in_hand()[0]
    n_questions = following.item.asked.count() + bool(following.check_asked_id)
    assert f"Next is report 1, with {n_questions} questions." in text_of_page(
        at_work.client.get(ROOM)
    )


def test_time_of_a_part_is_shown_once_measured(at_work):
    assert "not measured" in text_of_page(at_work.client.get(ROOM))
    participant_states.answer(
        participant_states.open_assignments(at_work.participant)[0], ms=92 * 60_000
    )
    assert "in progress 0 1 h 32 min" in text_of_page(at_work.client.get(ROOM))


# Pay


def test_pay_by_the_hour_is_that_of_ones_own_parts(walker):
    walker.prepare()
    participant_states.finish(walker.participant)  # 7 answers and 3 times submitting, a minute each
    page = text_of_page(walker.client.get(ROOM))
    assert "4.50 GBP for each finished part By the time that your own finished parts took" in page
    assert "(10 minutes each), that is 27.00 GBP an hour." in page


def test_before_that_it_is_by_the_time_of_others_once_there_are_enough(study, walker):
    walker.prepare()
    assert "If it takes 30 minutes, that is 9.00 GBP an hour" in text_of_page(
        walker.client.get(ROOM)
    )
    for number in range(pay_rate.ENOUGH):
        participant_states.finish(participant_states.make_consented(study, f"other-{number}"))
    page = text_of_page(walker.client.get(ROOM))
    assert "By the time that others took for a part (10 minutes in the middle)" in page
    assert "that is 27.00 GBP an hour." in page


def test_hourly_pay_is_hidden_without_pay_or_minutes(study, walker):
    walker.prepare()
    Campaign.objects.update(minutes_per_part=None)
    page = text_of_page(walker.client.get(ROOM))
    assert "4.50 GBP for each finished part" in page
    assert "an hour" not in page
    Campaign.objects.update(minutes_per_part=30, pay_per_part=None)
    page = text_of_page(walker.client.get(ROOM))
    assert "an hour" not in page
    assert "Pay is for finished parts" not in page


# Whom to ask


@pytest.mark.parametrize(
    ("contact", "href"),
    [
        ("study@example.org", "mailto:study@example.org"),
        ("https://example.org/study", "https://example.org/study"),
    ],
)
def test_contact_of_the_study_is_a_link(study, walker, contact, href):
    Campaign.objects.update(contact=contact)
    page = walker.prepare()
    assert f'<a href="{href}">{contact}</a>' in page.content.decode()
    assert f"Ask the researchers {contact} or by a message on Prolific" in text_of_page(page)
    walker.client.post(f"{ROOM}leave/")
    assert f'<a href="{href}">' in walker.client.get(f"{ROOM}end/").content.decode()


def test_without_one_people_are_sent_to_their_platform(cast, study, walker):
    assert "Ask the researchers by a message on Prolific" in text_of_page(walker.prepare())
    assert "Ask the researchers" not in text_of_page(account(cast, study).get(ROOM))


@pytest.mark.parametrize("contact", ["call me", "javascript:alert(1)", "ftp://example.org", "a@b"])
def test_contact_without_a_link_scheme_is_refused(cast, study, contact):
    page = cast.client("admin").post("/campaigns/crowd/edit/later/", {"contact": contact})
    assert "an e-mail address, or a web address" in page.content.decode()
    study.refresh_from_db()
    assert study.contact == ""


def test_contact_can_change_while_the_study_runs_and_is_copied(cast, study):
    sent = {"contact": "study@example.org", "code_done": "DONE1", "feedback": "never"}
    cast.client("admin").post("/campaigns/crowd/edit/later/", sent)
    study.refresh_from_db()
    assert study.contact == "study@example.org"
    assert drafts.copy_draft(study, cast.admin).contact == "study@example.org"


# Leaving


def test_leaving_keeps_submitted_items_and_releases_others(at_work):
    practice, first, second = at_work.in_hand()
    at_work.do(practice)
    at_work.do(first)
    n_answers = Answer.objects.count()
    page = text_of_page(at_work.client.get(ROOM))
    assert "Leave the study" in page
    assert "Pay is for finished parts." in page
    page = at_work.client.post(f"{ROOM}leave/", follow=True)
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "You have left this study" in text_of_page(page)
    assert "Please return your submission on Prolific" in text_of_page(page)
    second.refresh_from_db()
    first.refresh_from_db()
    assert (first.state, second.state, second.slot) == ("submitted", "released", None)
    assert (at_work.participant.outcome, at_work.participant.parts.get().outcome) == (
        "returned",
        "returned",
    )
    assert Answer.objects.count() == n_answers
    entry = LogEntry.objects.get()
    assert (entry.action, entry.detail) == ("left", "1 item released")
    assert entry.by == at_work.participant.rater.user
    assert at_work.client.get(ROOM).url == f"{ROOM}end/"
    assert at_work.begin().redirect_chain[-1][0] == f"{ROOM}end/"


def test_leaving_twice_is_once_and_what_has_ended_stays_as_it_was(at_work):
    at_work.client.post(f"{ROOM}leave/")
    at_work.client.post(f"{ROOM}leave/")
    assert LogEntry.objects.count() == 1
    Participant.objects.update(outcome="done")
    assert "Leave the study" not in text_of_page(at_work.client.get(ROOM))
    at_work.client.post(f"{ROOM}leave/")
    assert at_work.participant.outcome == "done"


def test_leaving_after_a_finished_part_keeps_its_code(walker):
    walker.prepare()
    walker.do_part()
    walker.client.post(f"{ROOM}leave/")
    page = text_of_page(walker.client.get(f"{ROOM}end/"))
    assert "DONE1" in page
    assert "return your submission" not in page
    walker.arrive(session="sub2")  # another submission, for which nothing was done
    page = text_of_page(walker.client.get(f"{ROOM}end/"))
    assert "DONE1" not in page
    assert "return your submission" in page


def test_without_a_submissions_id_a_finished_part_keeps_its_code(walker):
    walker.arrive(session="")
    walker.agree()
    walker.check(*RIGHT)
    walker.do_part()
    walker.client.post(f"{ROOM}leave/")
    page = text_of_page(walker.client.get(f"{ROOM}end/"))
    assert "DONE1" in page
    assert "return your submission" not in page


def test_look_at_the_study_leaves_nothing(cast, study):
    page = text_of_page(cast.client("researcher").get("/campaigns/crowd/preview/"))
    assert "that is 9.00 GBP an hour" in page
    assert "Leave the study" not in page


# The guideline, and practice


def test_study_without_guideline_shows_the_rubrics(walker):
    walker.prepare()
    Campaign.objects.update(guideline="", wording={})  # opened before words were frozen
    assert "could somebody who has" in walker.client.get(ROOM).content.decode()


def test_practice_is_named_as_practice(cast, at_work):
    practice, first, _ = at_work.in_hand()
    page = at_work.client.get(f"/work/{practice.pk}/")
    assert "<title>Practice: Report 1 of 1" in markup(page)
    assert "For practice: it does not count" in text_of_page(page)
    at_work.do(practice)
    page = at_work.client.get(f"/work/{first.pk}/")
    assert "<title>Report 1 of 2" in markup(page)
    assert "ractice" not in text_of_page(page)
    training = at_work.campaign.items.get(purpose="training").position
    preview = cast.client("researcher").get(f"/campaigns/crowd/preview/items/{training}/")
    assert "For practice: it does not count" in text_of_page(preview)


def test_guideline_is_a_link_without_scripts(at_work):
    page = at_work.client.get(f"/work/{at_work.in_hand()[0].pk}/").content.decode()
    assert '<a class="button" href="#guideline"' in page
    assert 'aria-keyshortcuts="Control+Enter"' not in page  # the script says it once it is true
