"""A study's page between and in its parts: what is next, what is under way, what was kept."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Part
from tests.annotation.study_material import ROOM, words
from tests.crowd import Walker, make_study


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


def test_the_next_part_is_offered_with_time_and_pay(walker):
    page = words(walker.prepare())
    assert "Next is part 1 of 2: 2 texts to read, after 1 to practise on." in page
    assert "Begin part 1" in page
    assert "About 30 minutes for a part" in page
    assert "4.50 GBP for each finished part" in page
    assert "Yours for 20 hours" in page
    assert "the same link brings you back" in page
    assert not walker.participant.parts.exists()


def test_it_shows_the_guideline_of_the_campaign(study, walker):
    study.guideline = "Read it *twice*."
    study.save()
    page = walker.prepare().content.decode()
    assert "<em>twice</em>" in page
    assert "could somebody who has" not in page


def test_the_part_under_way_is_shown_with_its_texts(walker):
    walker.prepare()
    page = walker.begin()
    practice = walker.in_hand()[0]
    assert page.redirect_chain[-1][0] == f"/work/{practice.pk}/"
    walker.do(practice)
    page = walker.client.get(ROOM)
    assert "You are in part 1 of 2. 1 of 3 handed in" in words(page)
    assert "for practice" in words(page)
    assert "from now" in words(page)
    assert ">Go on</a>" in page.content.decode()
    assert "1 of 3 handed in" in words(walker.client.get("/work/"))


def test_a_part_of_which_all_was_skipped_says_so(walker):
    walker.prepare()
    walker.begin()
    walker.participant.assignments.update(state="skipped")  # as before there was a limit
    assert "Every text here was skipped" in words(walker.client.get(ROOM))


def test_beginning_twice_is_once(walker):
    walker.prepare()
    first = walker.begin().redirect_chain[-1][0]
    assert walker.begin().redirect_chain[-1][0] == first
    assert walker.participant.parts.count() == 1


def test_a_finished_part_leads_to_the_code_and_not_to_unpaid_work(walker):
    walker.prepare()
    page = walker.do_part()
    html = page.content.decode()
    assert "This part is done. Thank you!" in words(page)
    assert 'href="https://app.prolific.com/submissions/complete?cc=DONE1"' in html
    assert 'data-leave="15"' in html
    assert "Back to Prolific" in words(page)
    assert "DONE1" in words(page)
    page = walker.client.get(ROOM)
    assert "Your completion code" in words(page)
    assert "Begin part" not in words(page)
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}end/"
    assert walker.participant.parts.count() == 1


def test_the_next_submission_resumes_at_the_next_part(study, walker):
    walker.prepare()
    walker.do_part()
    other = Walker(Client(), study)
    assert "Next is part 2 of 2: 2 texts to read." in words(other.come(session="sub2"))
    assert other.client.get(f"{ROOM}end/").status_code == 302
    page = other.do_part()
    assert "You have done all of it. Thank you!" in words(page)
    page = words(other.client.get(ROOM))
    assert "5 texts handed in over all" in page
    assert page.count("done") >= 2
    other.come(session="sub3")
    assert "nothing for you to do" in words(other.client.get(f"{ROOM}end/"))


def test_whose_time_ran_out_is_told_what_was_kept(walker):
    walker.prepare()
    walker.begin()
    practice, first, _ = walker.in_hand()
    walker.do(practice)
    walker.do(first)
    Part.objects.update(expires=timezone.now() - timedelta(minutes=1))
    page = words(walker.come())
    assert "The time for your last part ended on" in page
    assert "Kept: 2 handed in, 0 begun. Given back untouched: 1." in page
    assert "You can begin again" in page
    assert "Begin part 1" in page
    assert walker.client.get(f"{ROOM}end/").status_code == 302
    walker.begin()
    assert walker.participant.parts.count() == 2
