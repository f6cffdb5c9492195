"""Endings of a visit: nothing to assign, a code or none, and the way back."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.participation import entry
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.prolific_study import RIGHT, WRONG, Walker, make_study


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "paused"}, "is paused"),
        ({"opens_at": timezone.now() + timedelta(days=2)}, "opens on"),
        ({"closes_at": timezone.now() - timedelta(days=2)}, "is over"),
    ],
)
def test_inactive_study_shows_the_reason(study, walker, change, message):
    walker.arrive()
    walker.agree()
    for name, value in change.items():
        setattr(study, name, value)
    study.save()
    page = walker.arrive()
    assert page.redirect_chain == [(ROOM, 302)]
    assert message in text_of_page(page)
    assert "return your submission" in text_of_page(page)
    assert walker.client.get(f"{ROOM}check/").status_code == 302
    assert walker.client.post(f"{ROOM}begin/").status_code == 302
    assert not walker.participant.parts.exists()


def test_pause_lets_people_finish_and_take_their_code(study, walker):
    walker.prepare()
    walker.begin()
    study.state = "paused"
    study.save()
    for assignment in walker.in_hand():
        page = walker.do(assignment)
    assert "complete?cc=DONE1" in page.content.decode()


def test_closed_study_still_gives_the_code_of_a_finished_part(study, walker):
    walker.prepare()
    walker.do_part()
    study.state = "closed"
    study.save()
    page = walker.arrive()
    assert "This study is closed" in text_of_page(page)
    assert "complete?cc=DONE1" in walker.client.get(f"{ROOM}end/").content.decode()


def test_people_without_a_platform_go_on_with_the_next_part(study):
    study.platform = ""
    study.code_done = ""
    study.save()
    (participant,) = entry.make_links(study, ["Ann"])
    walker = Walker(Client(), study)
    walker.pid = "Ann"
    walker.client.force_login(participant.rater.user)
    walker.agree()
    walker.check(*RIGHT)
    page = walker.do_part()
    assert "This part is done. Thank you!" in text_of_page(page)
    assert "To the next part" in text_of_page(page)
    assert "completion code" not in text_of_page(page)
    page = walker.do_part()
    assert "You have done all of it" in text_of_page(page)


def test_worker_of_mturk_pastes_the_code(study):
    study.platform = "mturk"
    study.save()
    walker = Walker(Client(), study, "W1")
    walker.pid, walker.came_by = "W1", "/start/crowd/?workerId=W1&assignmentId=A1&hitId=H1"
    walker.agree()
    walker.check(*RIGHT)
    page = walker.do_part()
    assert "Please paste this code on Mechanical Turk." in text_of_page(page)
    assert "DONE1" in text_of_page(page)
    assert 'id="back"' not in page.content.decode()


def test_without_a_code_for_it_people_are_asked_to_give_up(study):
    study.code_failed_check = ""
    study.save()
    walker = Walker(Client(), study)
    walker.arrive()
    walker.agree()
    walker.check(*WRONG)
    page = walker.check(*WRONG)
    assert "return your submission on Prolific" in text_of_page(page)
    assert "cc=" not in page.content.decode()
