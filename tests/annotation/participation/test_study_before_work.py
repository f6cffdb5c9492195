"""Steps before the work: the terms, and the questions of the check."""

import pytest
from django.test import Client

from annotation.models import Participant
from annotation.participation import entry
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.prolific_study import RIGHT, WRONG, Walker, make_study


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


# Consent


def test_terms_are_shown_with_their_version(walker):
    page = walker.arrive()
    assert page.redirect_chain == []
    assert "<strong>reports</strong>" in page.content.decode()
    assert "Version 2 of these terms" in text_of_page(page)


def test_agreeing_is_recorded_with_its_time_and_version(walker, fake_clock):
    walker.arrive()
    assert walker.agree().redirect_chain[-1][0] == f"{ROOM}check/"
    assert walker.participant.consent_version == "2"
    assert walker.participant.consented_at == fake_clock.now()


def test_not_agreeing_ends_calmly(walker):
    walker.arrive()
    page = walker.answer_terms("decline")
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "You did not agree, and that is fine" in text_of_page(page)
    assert "return your submission on Prolific" in text_of_page(page)
    assert "cc=" not in page.content.decode()
    participant = walker.participant
    assert (participant.outcome, participant.consented_at, participant.consent_version) == (
        "returned",
        None,
        "",
    )
    assert not participant.parts.exists()
    assert walker.arrive().redirect_chain[-1][0] == f"{ROOM}end/"


@pytest.mark.parametrize("decision", ["", "perhaps"])
def test_without_a_decision_nothing_is_recorded(walker, decision):
    walker.arrive()
    page = walker.answer_terms(decision)
    assert page.status_code == 422
    assert "choose one of the two" in text_of_page(page)
    assert walker.client.post(walker.came_by).status_code == 422
    assert not Participant.objects.exists()


@pytest.mark.parametrize("decision", ["", "perhaps"])
def test_nor_where_somebody_is_in_by_a_link_of_their_own(study, walker, decision):
    (participant,) = entry.make_links(study, ["Ann"])
    walker.client.force_login(participant.rater.user)
    assert walker.client.get(ROOM).url == f"{ROOM}consent/"
    page = walker.client.post(f"{ROOM}consent/", {"decision": decision})
    assert page.status_code == 422
    assert "choose one of the two" in text_of_page(page)
    participant.refresh_from_db()
    assert (participant.outcome, participant.consented_at) == ("", None)


# The check


def test_screening_comes_before_comprehension(walker):
    page = walker.arrive()
    assert "Do you read English every week?" in text_of_page(page)
    assert "What does a 1 need?" not in text_of_page(page)
    page = walker.agree()
    assert "Do you read English every week?" not in text_of_page(page)
    assert "What does a 1 need?" in text_of_page(page)
    assert "could somebody who has only this report" in text_of_page(page)  # the guideline
    assert walker.participant.check_tries == 0


def test_wrong_answer_to_screening_ends_the_visit_at_once(walker):
    walker.arrive()
    page = walker.agree(0)
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert walker.participant.outcome == "screened_out"
    assert "SCREEN1" in text_of_page(page)
    assert "https://app.prolific.com/submissions/complete?cc=SCREEN1" in page.content.decode()
    assert "data-leave" not in page.content.decode()


def test_first_wrong_try_is_explained_and_the_second_ends_it(walker):
    walker.arrive()
    walker.agree()
    page = walker.check(*WRONG)
    assert page.status_code == 422
    assert "You have one more try" in text_of_page(page)
    assert "The text alone counts, not what you know." in text_of_page(page)
    assert "Every 1 has words." not in text_of_page(page)
    assert walker.participant.check_tries == 1
    page = walker.check(*WRONG)
    assert walker.participant.outcome == "failed_check"
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "complete?cc=FAILED1" in page.content.decode()
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}end/"


def test_second_try_can_be_right(walker):
    walker.arrive()
    walker.agree()
    walker.check(*WRONG)
    page = walker.client.get(f"{ROOM}check/")
    assert "You have one more try" in text_of_page(page)
    assert "Do you read English every week?" not in text_of_page(page)
    assert "Start part 1" in text_of_page(page)
    page = walker.check(*RIGHT)
    assert page.redirect_chain[-1][0] == walker.in_hand()[0].get_absolute_url()
    assert (walker.participant.check_tries, walker.participant.checked_at is not None) == (1, True)


def test_old_page_of_the_check_neither_counts_nor_passes(walker):
    walker.arrive()
    walker.agree()
    walker.check(*WRONG, tries=0)
    for choices in (WRONG, RIGHT):
        page = walker.check(*choices, tries=0)
        assert page.redirect_chain[-1][0] == f"{ROOM}check/"
    assert (walker.participant.check_tries, walker.participant.checked_at) == (1, None)


def test_answer_that_is_missing_or_no_choice_is_no_try(walker):
    walker.arrive()
    walker.agree()
    walker.on_another_device()
    assert walker.check(step="screening", tries=0).status_code == 422
    assert walker.check(7, step="screening", tries=0).status_code == 422
    page = walker.check(1, 1)
    assert page.status_code == 422
    assert "Please choose an answer." in text_of_page(page)
    assert walker.check(1, "x", "y").status_code == 422
    assert walker.check(*RIGHT, tries="many").redirect_chain[-1][0] == f"{ROOM}check/"
    assert (walker.participant.check_tries, walker.participant.outcome) == (0, "")


def test_screening_cannot_be_gone_round(walker):
    walker.arrive()
    walker.agree()
    walker.on_another_device()
    page = walker.client.post(
        f"{ROOM}check/",
        {"step": "comprehension", "tries": 0}
        | {
            f"check-{question.pk}": question.correct
            for question in walker.campaign.check_questions.filter(purpose="comprehension")
        },
        follow=True,
    )
    assert "Do you read English every week?" in text_of_page(page)
    walker.check(0, 1, 0)
    assert walker.participant.outcome == "screened_out"


def test_screening_alone_is_a_check(db):
    study = make_study()
    study.check_questions.filter(purpose="comprehension").delete()
    walker = Walker(Client(), study)
    walker.arrive()
    assert walker.agree().redirect_chain[-1][0] == ROOM


def test_comprehension_alone_is_a_check(db):
    study = make_study()
    study.check_questions.filter(purpose="screening").delete()
    walker = Walker(Client(), study)
    walker.arrive()
    assert "What does a 1 need?" in text_of_page(walker.agree())
    page = walker.check(1, 0)
    assert page.redirect_chain[-1][0] == walker.in_hand()[0].get_absolute_url()
