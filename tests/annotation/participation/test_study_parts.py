"""A study's page between and in its parts: what is next, what is under way, what was kept."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Part
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.prolific_study import Walker, make_study


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


def test_next_part_is_offered_with_time_and_pay(walker):
    page = text_of_page(walker.prepare())
    assert "Next is part 1 of 2: 2 texts to read, after 1 to practise on." in page
    assert "Start part 1" in page
    assert "About 30 minutes for a part" in page
    assert "4.50 GBP for each finished part" in page
    assert "You have 20 hours" in page
    assert "the same link brings you back" in page
    assert not walker.participant.parts.exists()


def test_study_page_shows_the_guideline(study, walker):
    study.guideline = "Read it *twice*."
    study.save()
    page = walker.prepare().content.decode()
    assert "<em>twice</em>" in page
    assert "could somebody who has" not in page


def test_part_under_way_is_shown_with_its_texts(walker):
    walker.prepare()
    page = walker.begin()
    practice = walker.in_hand()[0]
    assert page.redirect_chain[-1][0] == f"/work/{practice.pk}/"
    walker.do(practice)
    page = walker.client.get(ROOM)
    assert "You are in part 1 of 2. 0 of 2 submitted" in text_of_page(page)
    assert "for practice" in text_of_page(page)
    assert "from now" in text_of_page(page)
    assert ">Continue</a>" in page.content.decode()
    assert "0 of 2 submitted" in text_of_page(walker.client.get("/work/"))


def test_part_with_all_texts_skipped_shows_a_message(walker):
    walker.prepare()
    walker.begin()
    walker.participant.assignments.update(state="skipped")  # as before there was a limit
    assert "Every text here was skipped" in text_of_page(walker.client.get(ROOM))


def test_beginning_twice_is_once(walker):
    walker.prepare()
    first = walker.begin().redirect_chain[-1][0]
    assert walker.begin().redirect_chain[-1][0] == first
    assert walker.participant.parts.count() == 1


def test_finished_part_leads_to_the_code_and_not_to_unpaid_work(walker):
    walker.prepare()
    page = walker.do_part()
    html = page.content.decode()
    assert "This part is done. Thank you!" in text_of_page(page)
    assert 'href="https://app.prolific.com/submissions/complete?cc=DONE1"' in html
    assert 'data-leave="15"' in html
    assert "Back to Prolific" in text_of_page(page)
    assert "DONE1" in text_of_page(page)
    page = walker.client.get(ROOM)
    assert "Your completion code" in text_of_page(page)
    assert "Start part" not in text_of_page(page)
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}end/"
    assert walker.participant.parts.count() == 1


def test_next_submission_resumes_at_the_next_part(study, walker):
    walker.prepare()
    walker.do_part()
    other_walker = Walker(Client(), study)
    assert "Next is part 2 of 2: 2 texts to read." in text_of_page(
        other_walker.arrive(session="sub2")
    )
    assert other_walker.client.get(f"{ROOM}end/").status_code == 302
    page = other_walker.do_part()
    assert "You have done all of it. Thank you!" in text_of_page(page)
    page = text_of_page(other_walker.client.get(ROOM))
    assert "4 texts submitted in total" in page
    assert page.count("done") >= 2
    other_walker.arrive(session="sub3")
    page = other_walker.client.get(f"{ROOM}end/", follow=True)
    assert "You have done all parts that one person may do." in text_of_page(page)


def test_expired_part_lists_its_saved_work(walker):
    walker.prepare()
    walker.begin()
    practice, first, _ = walker.in_hand()
    walker.do(practice)
    walker.do(first)
    Part.objects.update(expires=timezone.now() - timedelta(minutes=1))
    page = text_of_page(walker.arrive())
    assert "The time for your last part ended on" in page
    assert "Kept: 1 submitted, 0 started. Returned without an answer: 1." in page
    assert "You can start again" in page
    assert "Start part 1" in page
    assert walker.client.get(f"{ROOM}end/").status_code == 302
    walker.begin()
    assert walker.participant.parts.count() == 2
