"""A part that can no longer be finished: what becomes of it and of the pay is said, and nobody is led on."""

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
from tests.annotation.study_material import ROOM, words
from tests.crowd import RIGHT, Walker, make_study
from tests.markup import markup

LED_ON = re.compile(r">\s*(Go on|Begin( part \d)?)\s*<")
NO_CODE = "Only a finished part has a completion code, so there is none for this one."
WRITE = "please write to them on Prolific before you give up your place there"


@pytest.fixture(scope="module")
def working(kept):
    """Somebody from Prolific in a part: practice done, one answer to the first text."""

    def make() -> Walker:
        walker = Walker(Client(), make_study())
        walker.prepare()
        walker.begin()
        walker.do(walker.in_hand()[0])
        answer(walker)
        return walker

    return kept(make)


@pytest.fixture
def walker(db, working):
    return deepcopy(working)


@pytest.fixture
def study(request, db):
    """That of the walker, or where a test has none an empty one."""
    if "walker" in request.fixturenames:
        return request.getfixturevalue("walker").campaign
    return make_study()


def answer(walker, first=None):
    first = first or walker.in_hand()[0]
    asked = first.item.asked.first().question_id
    url = f"/work/{first.pk}/answers/{asked}/"
    assert walker.client.post(url, {"key": uuid4(), "grade": 0}).status_code == 302
    return first


def put(study, **change) -> None:
    for name, value in change.items():
        setattr(study, name, value)
    study.save()


def run_out() -> None:
    Part.objects.filter(outcome="").update(expires=timezone.now() - timedelta(minutes=1))


def test_a_study_that_is_closed_in_a_part_says_what_becomes_of_it(study, walker):
    put(study, state="closed")
    page = walker.come()
    assert "The study was closed before you could finish this part." in words(page)
    assert "Kept: 1 handed in, 1 begun. Not begun: 1. No answer was lost." in words(page)
    assert NO_CODE in words(page)
    assert WRITE in words(page)
    assert not LED_ON.search(page.content.decode())
    for promise in ("for each finished part", "go on later", "You are in part", "return your"):
        assert promise not in words(page)
    assert "Report 2" in words(page)  # what was answered can still be looked at


def test_who_had_only_begun_is_asked_to_give_the_place_back(study):
    walker = Walker(Client(), study)
    walker.prepare()
    walker.begin()
    put(study, state="closed")
    page = words(walker.come())
    assert f"{NO_CODE} Please return your submission on Prolific" in page
    assert "write to them" not in page


def test_where_there_are_no_codes_none_is_spoken_of(study, walker):
    put(study, code_done="")
    run_out()
    page = words(walker.come())
    assert "completion code" not in page
    assert "the pay is due once you have finished the part that you begin now" in page
    put(study, state="closed")
    page = words(walker.come())
    assert "completion code" not in page
    assert WRITE in page


def by_link(study) -> Walker:
    (participant,) = entry.make_links(study, ["Ann"])
    walker = Walker(Client(), study, "Ann")
    walker.pid = participant.external_id
    walker.client.force_login(participant.rater.user)
    walker.agree()
    walker.screening()
    walker.check(*RIGHT)
    walker.begin()
    answer(walker)
    return walker


@pytest.mark.parametrize(("pay", "says"), [("4.50", True), (None, False)])
def test_without_a_platform_pay_is_asked_of_the_researchers(db, pay, says):
    study = make_study(platform="", code_done="", pay_per_part=pay)
    walker = by_link(study)
    put(study, state="closed")
    page = words(walker.client.get(ROOM))
    assert "Kept: 0 handed in, 1 begun. Not begun: 2." in page
    assert ("decide what is paid for this one: please ask them" in page) is says
    assert ("Pay is for finished parts" in page) is says
    assert "completion code" not in page
    put(study, state="open")
    run_out()
    page = words(walker.client.get(ROOM))
    assert ("the pay is due once you have finished the part that you begin now" in page) is says


def test_the_texts_of_a_closed_study_lead_to_its_page_and_no_further(study, walker):
    first = walker.in_hand()[0]
    practice = walker.participant.assignments.get(item__purpose="training")
    put(study, state="closed")
    page = markup(walker.client.get(f"/work/{first.pk}/"))
    assert "This study is closed. What you saved is kept." in page
    assert f'<a class="button main" href="{ROOM}">To the page of the study</a>' in page
    assert re.search(r'<form id="submit"[^>]* hidden>', page)
    assert '<details class="skip" hidden>' in page
    assert walker.client.get(f"/work/{first.pk}/state/").json()["closed"] is True
    page = markup(walker.client.get(f"/work/{practice.pk}/feedback/"))
    assert not LED_ON.search(page)
    assert page.count(f'href="{ROOM}">To the page of the study<') == 2
    assert walker.begin().redirect_chain == [(ROOM, 302)]


def test_a_part_whose_time_ended_is_begun_again_and_not_gone_on_with(walker):
    first = walker.in_hand()[0]
    run_out()
    page = walker.come()
    html = markup(page)
    assert "Kept: 1 handed in, 1 begun. Given back untouched: 1. No answer was lost." in words(page)
    assert "You can begin again; what you had begun comes first." in words(page)
    assert "it comes once you have finished the part that you begin now" in words(page)
    assert "> Begin part 1 </button>" in html
    assert ">Go on<" not in html
    item = markup(walker.client.get(f"/work/{first.pk}/"))
    assert "The time for this part is over. What you saved is kept." in item
    assert re.search(r'<form id="submit"[^>]* hidden>', item)
    page = walker.begin()
    assert page.redirect_chain == [(f"/work/{first.pk}/", 302)]
    assert '<form id="submit" method="post"' in markup(page)
    for assignment in walker.in_hand():
        page = walker.do(assignment)
    assert "complete?cc=DONE1" in page.content.decode()


@pytest.mark.parametrize("change", [{"state": "paused"}, {"state": "closed"}])
def test_one_whose_time_ended_and_that_cannot_be_begun_again_says_so(study, walker, change):
    run_out()
    walker.come()
    put(study, **change)
    page = walker.come()
    assert "The time for your last part ended on" in words(page)
    assert NO_CODE in words(page)
    assert WRITE in words(page)
    assert "return your submission" not in words(page)
    assert not LED_ON.search(page.content.decode())


def test_handing_in_after_the_end_leads_to_the_page_of_the_study(walker):
    first, _ = walker.in_hand()
    run_out()
    assigning.expire(walker.participant.campaign)  # while the page was open: the second goes back
    page = walker.do(first)
    assert page.redirect_chain == [(ROOM, 302)]
    assert "Begin part 1" in page.content.decode()
    assert "What you handed in counts: the next part is shorter by it." in words(page)


def test_a_part_that_was_begun_throughout_is_finished_late(study, walker):
    first, second = walker.in_hand()
    answer(walker, second)
    put(study, begun_lease_hours=24)
    run_out()
    page = walker.come()
    told = words(page)
    assert "The time for your last part ended on" in told
    assert "You can still finish this part: hand in what you have begun, and it is done." in told
    until = walker.participant.parts.get().began + timedelta(hours=24)
    assert (
        f"These texts stay yours until {date_format(timezone.localtime(until), 'j F, H:i')}" in told
    )
    assert "Begin part" not in told
    assert ">Go on</a>" in page.content.decode()
    page = walker.do(first)
    assert page.redirect_chain == [(second.get_absolute_url(), 302)]
    page = walker.do(second)
    assert "complete?cc=DONE1" in page.content.decode()
    assert walker.participant.parts.get().outcome == "done"


def test_what_was_begun_and_went_to_others_is_said(study, walker):
    put(study, begun_lease_hours=20)
    walker.participant.parts.update(began=timezone.now() - timedelta(hours=21))
    run_out()
    told = words(walker.come())
    assert "1 begun. Given back untouched: 1." in told
    assert "Of those begun, 1 went back to the others since" in told
    assert "still finish" not in told


def test_both_limits_are_told_before_and_in_a_part(study):
    put(study, begun_lease_hours=48)
    walker = Walker(Client(), study)
    walker.prepare()
    assert "begun and not handed in do so 48 hours after the beginning" in words(walker.come())
    walker.begin()
    until = walker.participant.parts.get().began + timedelta(hours=48)
    when = date_format(timezone.localtime(until), "j F, H:i")
    assert f"Those that you have begun and not handed in do so on {when}" in words(walker.come())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"state": "paused"}, "This study is paused for the moment."),
        ({"closes_at": timezone.now() - timedelta(minutes=1)}, "Nothing more is handed out."),
    ],
)
def test_while_nothing_is_handed_out_a_part_can_be_finished_and_is_paid(
    study, walker, change, says
):
    put(study, **change)
    page = walker.come()
    assert says in words(page)
    assert "You can finish the part that you are in" in words(page)
    assert ">Go on</a>" in page.content.decode()
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


def test_a_text_that_is_open_again_can_be_handed_in_though_its_part_has_ended(walker):
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


def test_nothing_is_opened_again_for_somebody_who_has_left(walker):
    first, _ = walker.in_hand()
    walker.do(first)
    walker.client.post(f"{ROOM}leave/")
    assert take_back(walker, first) == "submitted"
