"""Parts that can no longer be finished: messages about the work, the pay and the place."""

import re
from copy import deepcopy
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from annotation.models import Part
from annotation.participation import assigning, entry
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.prolific_study import RIGHT, Walker, make_study
from tests.toolbox.responses import markup

LED_ON = re.compile(r">\s*(Go on|Begin( part \d)?)\s*<")
NO_CODE = "Only a finished part has a completion code, so there is none for this one."
WRITE = "Please write to them on Prolific before you give up your place there"


@pytest.fixture(scope="module")
def working(shared_world):
    """Somebody from Prolific in a part: practice done, one answer to the first text."""

    def make() -> Walker:
        walker = Walker(Client(), make_study())
        walker.prepare()
        walker.begin()
        walker.do(walker.in_hand()[0])
        answer(walker)
        return walker

    return shared_world(make)


@pytest.fixture
def walker(db, working):
    return deepcopy(working)


@pytest.fixture
def study(request, db):
    """The walker's study, or an empty one where a test has no walker."""
    if "walker" in request.fixturenames:
        return request.getfixturevalue("walker").campaign
    return make_study()


def answer(walker, first=None):
    first = first or walker.in_hand()[0]
    question_id = first.item.asked.first().question_id
    url = f"/work/{first.pk}/answers/{question_id}/"
    assert walker.client.post(url, {"key": uuid4(), "grade": 0}).status_code == 302
    return first


def put(study, **change) -> None:
    for name, value in change.items():
        setattr(study, name, value)
    study.save()


def run_out() -> None:
    Part.objects.filter(outcome="").update(expires=timezone.now() - timedelta(minutes=1))


def test_study_closed_during_a_part_explains_the_consequences(study, walker):
    put(study, state="closed")
    page = walker.arrive()
    assert "The study was closed before you could finish this part." in text_of_page(page)
    assert "Kept: 0 submitted, 1 started. Not started: 1. No answer was lost." in text_of_page(page)
    assert NO_CODE in text_of_page(page)
    assert WRITE in text_of_page(page)
    assert not LED_ON.search(page.content.decode())
    for promise in ("for each finished part", "go on later", "You are in part", "return your"):
        assert promise not in text_of_page(page)
    assert "Report 2" in text_of_page(page)  # what was answered can still be looked at


def test_begun_part_asks_to_return_the_submission(study):
    walker = Walker(Client(), study)
    walker.prepare()
    walker.begin()
    put(study, state="closed")
    page = text_of_page(walker.arrive())
    assert f"{NO_CODE} Please return your submission on Prolific" in page
    assert "write to them" not in page


def test_study_without_codes_mentions_none(study, walker):
    put(study, code_done="")
    run_out()
    page = text_of_page(walker.arrive())
    assert "completion code" not in page
    assert "You are paid when you finish the part that you start now" in page
    put(study, state="closed")
    page = text_of_page(walker.arrive())
    assert "completion code" not in page
    assert WRITE in page


def by_link(study) -> Walker:
    (participant,) = entry.make_links(study, ["Ann"])
    walker = Walker(Client(), study, "Ann")
    walker.pid = participant.external_id
    walker.client.force_login(participant.rater.user)
    walker.agree()
    walker.check(*RIGHT)
    walker.begin()
    answer(walker)
    return walker


@pytest.mark.parametrize(("pay", "message"), [("4.50", True), (None, False)])
def test_without_a_platform_pay_is_asked_of_the_researchers(db, pay, message):
    study = make_study(platform="", code_done="", pay_per_part=pay, training=0)
    walker = by_link(study)
    put(study, state="closed")
    page = text_of_page(walker.client.get(ROOM))
    assert "Kept: 0 submitted, 1 started. Not started: 1." in page
    assert ("decide about pay for this part. Please ask them" in page) is message
    assert ("Pay is for finished parts" in page) is message
    assert "completion code" not in page
    put(study, state="open")
    run_out()
    page = text_of_page(walker.client.get(ROOM))
    assert ("You are paid when you finish the part that you start now" in page) is message


def test_texts_of_a_closed_study_lead_to_its_page_and_no_further(study, walker):
    first = walker.in_hand()[0]
    practice = walker.participant.assignments.get(item__purpose="training")
    put(study, state="closed")
    page = markup(walker.client.get(f"/work/{first.pk}/"))
    assert "This study is closed. Your saved answers are kept." in page
    assert f'<a class="button main" href="{ROOM}">To the page of the study</a>' in page
    assert re.search(r'<form id="submit"[^>]* hidden>', page)
    assert '<details class="skip" hidden>' in page
    assert walker.client.get(f"/work/{first.pk}/state/").json()["closed"] is True
    page = markup(walker.client.get(f"/work/{practice.pk}/feedback/"))
    assert not LED_ON.search(page)
    assert page.count(f'href="{ROOM}">To the page of the study<') == 2
    assert walker.begin().redirect_chain == [(ROOM, 302)]


def test_part_whose_time_ended_is_begun_again_and_not_gone_on_with(walker):
    first = walker.in_hand()[0]
    run_out()
    page = walker.arrive()
    html = markup(page)
    assert (
        "Kept: 0 submitted, 1 started. Returned without an answer: 1. No answer was lost."
        in text_of_page(page)
    )
    assert "You can start again. The texts that you started come first." in text_of_page(page)
    assert "You get it when you finish the part that you start now" in text_of_page(page)
    assert "> Start part 1 </button>" in html
    assert ">Continue<" not in html
    item = markup(walker.client.get(f"/work/{first.pk}/"))
    assert "The time for this part is over. Your saved answers are kept." in item
    assert re.search(r'<form id="submit"[^>]* hidden>', item)
    page = walker.begin()
    assert page.redirect_chain == [(f"/work/{first.pk}/", 302)]
    assert '<form id="submit" method="post"' in markup(page)
    for assignment in walker.in_hand():
        page = walker.do(assignment)
    assert "complete?cc=DONE1" in page.content.decode()


@pytest.mark.parametrize("change", [{"state": "paused"}, {"state": "closed"}])
def test_expired_part_that_cannot_resume_shows_a_message(study, walker, change):
    run_out()
    walker.arrive()
    put(study, **change)
    page = walker.arrive()
    assert "The time for your last part ended on" in text_of_page(page)
    assert NO_CODE in text_of_page(page)
    assert WRITE in text_of_page(page)
    assert "return your submission" not in text_of_page(page)
    assert not LED_ON.search(page.content.decode())


def test_submission_after_the_end_redirects_to_the_study_page(walker):
    first, _ = walker.in_hand()
    run_out()
    assigning.expire(walker.participant.campaign)  # while the page was open: the second goes back
    page = walker.do(first)
    assert page.redirect_chain == [(ROOM, 302)]
    assert "Start part 1" in page.content.decode()
    assert "What you submitted counts, so the next part is shorter." in text_of_page(page)


def test_part_that_was_begun_throughout_is_finished_late(study, walker):
    first, second = walker.in_hand()
    answer(walker, second)
    put(study, begun_lease_hours=24)
    run_out()
    page = walker.arrive()
    page_text = text_of_page(page)
    assert "The time for your last part ended on" in page_text
    assert "You can still finish this part: submit the texts that you started." in page_text
    until = walker.participant.parts.get().began + timedelta(hours=24)
    assert (
        f"You have these texts until {date_format(timezone.localtime(until), 'j F, H:i')}"
        in page_text
    )
    assert "Start part" not in page_text
    assert ">Continue</a>" in page.content.decode()
    page = walker.do(first)
    assert page.redirect_chain == [(second.get_absolute_url(), 302)]
    page = walker.do(second)
    assert "complete?cc=DONE1" in page.content.decode()
    assert walker.participant.parts.get().outcome == "done"


def test_released_begun_items_are_mentioned(study, walker):
    put(study, begun_lease_hours=20)
    walker.participant.parts.update(began=timezone.now() - timedelta(hours=21))
    run_out()
    page_text = text_of_page(walker.arrive())
    assert "1 started. Returned without an answer: 1." in page_text
    assert "Of the texts that you started, 1 went to other people" in page_text
    assert "You can still finish this part" not in page_text


def test_both_time_limits_are_shown_before_and_during_a_part(study):
    put(study, begun_lease_hours=48)
    walker = Walker(Client(), study)
    walker.prepare()
    assert "texts that you started until 48 hours after you press Start" in text_of_page(
        walker.arrive()
    )
    walker.begin()
    until = walker.participant.parts.get().began + timedelta(hours=48)
    when = date_format(timezone.localtime(until), "j F, H:i")
    assert f"You can finish texts that you started until {when}" in text_of_page(walker.arrive())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "paused"}, "This study is paused for the moment."),
        ({"closes_at": timezone.now() - timedelta(minutes=1)}, "This study is over."),
    ],
)
def test_while_nothing_is_handed_out_a_part_can_be_finished_and_is_paid(
    study, walker, change, message
):
    put(study, **change)
    page = walker.arrive()
    assert message in text_of_page(page)
    assert "You can finish your current part" in text_of_page(page)
    assert ">Continue</a>" in page.content.decode()
    for assignment in walker.in_hand():
        page = walker.do(assignment)
    assert "complete?cc=DONE1" in page.content.decode()


def take_back(walker, assignment):
    """Take the grade of a question back: the text lacks something then."""
    question = assignment.item.asked.first().question_id
    sent = {"key": uuid4(), "grade": "", "spans": "[]"}
    walker.client.post(f"/work/{assignment.pk}/answers/{question}/", sent)
    assignment.refresh_from_db()
    return assignment.state


def test_reopened_text_can_be_submitted_after_its_part(walker):
    first, _ = walker.in_hand()
    walker.do(first)
    run_out()
    walker.client.get(ROOM)
    assert walker.participant.parts.get().outcome == "expired"
    assert take_back(walker, first) == "open"
    page = markup(walker.client.get(f"/work/{first.pk}/"))
    assert f'id="submit" method="post" action="/work/{first.pk}/submit/">' in page
    walker.do(first)
    first.refresh_from_db()
    assert first.state == "submitted"


def test_answer_after_leaving_reopens_no_item(walker):
    first, _ = walker.in_hand()
    walker.do(first)
    walker.client.post(f"{ROOM}leave/")
    assert take_back(walker, first) == "submitted"
