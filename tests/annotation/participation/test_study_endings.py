"""How a visit ends: nothing handed out, a code or none, and the way back."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.monitoring import actions
from annotation.participation import entry
from tests.annotation.study_material import ROOM, words
from tests.crowd import RIGHT, WRONG, Walker, make_study


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"state": "paused"}, "is paused"),
        ({"opens_at": timezone.now() + timedelta(days=2)}, "opens on"),
        ({"closes_at": timezone.now() - timedelta(days=2)}, "is over"),
    ],
)
def test_a_study_that_hands_out_nothing_says_why(study, walker, change, says):
    walker.come()
    walker.agree()
    for name, value in change.items():
        setattr(study, name, value)
    study.save()
    page = walker.come()
    assert page.redirect_chain == [(ROOM, 302)]
    assert says in words(page)
    assert "return your submission" in words(page)
    assert walker.client.get(f"{ROOM}check/").status_code == 302
    assert walker.client.post(f"{ROOM}begin/").status_code == 302
    assert not walker.participant.parts.exists()


def test_a_pause_lets_people_finish_and_take_their_code(study, walker):
    walker.prepare()
    walker.begin()
    study.state = "paused"
    study.save()
    for assignment in walker.in_hand():
        page = walker.do(assignment)
    assert "complete?cc=DONE1" in page.content.decode()


def test_a_closed_study_still_gives_the_code_of_a_finished_part(study, walker):
    walker.prepare()
    walker.do_part()
    study.state = "closed"
    study.save()
    page = walker.come()
    assert "This study is closed" in words(page)
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
    walker.screening()
    walker.check(*RIGHT)
    page = walker.do_part()
    assert "This part is done. Thank you!" in words(page)
    assert "To the next part" in words(page)
    assert "completion code" not in words(page)
    page = walker.do_part()
    assert "You have done all of it" in words(page)


def test_a_worker_of_mturk_pastes_the_code(study):
    study.platform = "mturk"
    study.save()
    walker = Walker(Client(), study, "W1")
    walker.pid, walker.came_by = "W1", "/start/crowd/?workerId=W1&assignmentId=A1&hitId=H1"
    walker.agree()
    walker.screening()
    walker.check(*RIGHT)
    page = walker.do_part()
    assert "Please paste this code on Mechanical Turk." in words(page)
    assert "DONE1" in words(page)
    assert 'id="back"' not in page.content.decode()


def test_without_a_code_for_it_people_are_asked_to_give_up(study):
    study.code_failed_check = ""
    study.save()
    walker = Walker(Client(), study)
    walker.come()
    walker.agree()
    walker.screening()
    walker.check(*WRONG)
    page = walker.check(*WRONG)
    assert "return your submission on Prolific" in words(page)
    assert "cc=" not in page.content.decode()


def test_who_was_returned_by_staff_is_told_so(cast, walker):
    walker.prepare()
    walker.begin()
    actions.return_participant(walker.participant, cast.admin)
    page = walker.come()
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "You have left this study" in words(page)
