"""The pages of a study as its participants see them, and to whom they are shown."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from annotation import actions, assigning, entry
from annotation.models import Message, Participant, Sitting
from tests.crowd import RIGHT, WRONG, Walker, make_study

ROOM = "/work/in/crowd/"
PAGES = ["", "begin/", "consent/", "check/", "end/", "messages/"]


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def walker(study):
    return Walker(Client(), study)


def words(response):
    """What a page says, without its tags."""
    main = response.content.decode().partition("<main")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", main)))


# Consent


def test_the_terms_are_shown_with_their_version(walker):
    page = walker.come()
    assert page.redirect_chain[-1][0] == f"{ROOM}consent/"
    assert "<strong>reports</strong>" in page.content.decode()
    assert "Version 2 of these terms" in words(page)


def test_agreeing_is_recorded_with_its_time_and_version(walker):
    walker.come()
    assert walker.agree().redirect_chain[-1][0] == f"{ROOM}check/"
    assert walker.stay.consent_version == "2"
    assert timezone.now() - walker.stay.consented_at < timedelta(minutes=1)


def test_not_agreeing_ends_calmly(walker):
    walker.come()
    page = walker.client.post(f"{ROOM}consent/", {"decision": "decline"}, follow=True)
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "You did not agree, and that is fine" in words(page)
    assert "return your submission on Prolific" in words(page)
    assert "cc=" not in page.content.decode()
    stay = walker.stay
    assert (stay.outcome, stay.consented_at, stay.consent_version) == ("returned", None, "")
    assert not stay.sittings.exists()
    assert walker.come().redirect_chain[-1][0] == f"{ROOM}end/"


@pytest.mark.parametrize("decision", ["", "perhaps"])
def test_without_a_decision_nothing_is_recorded(walker, decision):
    walker.come()
    page = walker.client.post(f"{ROOM}consent/", {"decision": decision})
    assert page.status_code == 422
    assert "choose one of the two" in words(page)
    assert walker.client.post(f"{ROOM}consent/").status_code == 422
    assert (walker.stay.outcome, walker.stay.consented_at) == ("", None)


# The check


def test_screening_comes_before_comprehension(walker):
    walker.come()
    page = walker.agree()
    assert "Do you read English every week?" in words(page)
    assert "What does a 1 need?" not in words(page)
    page = walker.screening()
    assert "Do you read English every week?" not in words(page)
    assert "What does a 1 need?" in words(page)
    assert "could somebody who has only this report" in words(page)  # the guideline
    assert walker.stay.check_tries == 0


def test_a_wrong_answer_to_screening_ends_the_visit_at_once(walker):
    walker.come()
    walker.agree()
    page = walker.screening(0)
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert walker.stay.outcome == "screened_out"
    assert "SCREEN1" in words(page)
    assert "https://app.prolific.com/submissions/complete?cc=SCREEN1" in page.content.decode()
    assert "data-leave" not in page.content.decode()


def test_the_first_wrong_try_is_explained_and_the_second_ends_it(walker):
    walker.come()
    walker.agree()
    walker.screening()
    page = walker.check(*WRONG)
    assert page.status_code == 422
    assert "You have one more try" in words(page)
    assert "The text alone counts, not what you know." in words(page)
    assert "Every 1 has words." not in words(page)
    assert walker.stay.check_tries == 1
    page = walker.check(*WRONG)
    assert walker.stay.outcome == "failed_check"
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "complete?cc=FAILED1" in page.content.decode()
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}end/"


def test_the_second_try_can_be_right(walker):
    walker.come()
    walker.agree()
    walker.screening()
    walker.check(*WRONG)
    page = walker.client.get(f"{ROOM}check/")
    assert "You have one more try" in words(page)
    assert "Do you read English every week?" not in words(page)
    page = walker.check(*RIGHT)
    assert page.redirect_chain[-1][0] == ROOM
    assert (walker.stay.check_tries, walker.stay.checked_at is not None) == (1, True)


def test_an_old_page_of_the_check_neither_counts_nor_passes(walker):
    walker.come()
    walker.agree()
    walker.screening()
    walker.check(*WRONG, tries=0)
    for choices in (WRONG, RIGHT):
        page = walker.check(*choices, tries=0)
        assert page.redirect_chain[-1][0] == f"{ROOM}check/"
    assert (walker.stay.check_tries, walker.stay.checked_at) == (1, None)


def test_an_answer_that_is_missing_or_no_choice_is_no_try(walker):
    walker.come()
    walker.agree()
    assert walker.check(step="screening", tries=0).status_code == 422
    assert walker.check(7, step="screening", tries=0).status_code == 422
    page = walker.check(1, 1)
    assert page.status_code == 422
    assert "Please choose an answer." in words(page)
    assert walker.check(1, "x", "y").status_code == 422
    assert walker.check(*RIGHT, tries="many").redirect_chain[-1][0] == f"{ROOM}check/"
    assert (walker.stay.check_tries, walker.stay.outcome) == (0, "")


def test_the_screening_cannot_be_gone_round(walker):
    walker.come()
    walker.agree()
    page = walker.client.post(
        f"{ROOM}check/",
        {"step": "comprehension", "tries": 0}
        | {
            f"check-{one.pk}": one.correct
            for one in walker.campaign.check_questions.filter(purpose="comprehension")
        },
        follow=True,
    )
    assert "Do you read English every week?" in words(page)
    walker.check(0, 1, 0)
    assert walker.stay.outcome == "screened_out"


def test_screening_alone_is_a_check(db):
    study = make_study()
    study.check_questions.filter(purpose="comprehension").delete()
    walker = Walker(Client(), study)
    walker.come()
    walker.agree()
    assert walker.screening().redirect_chain[-1][0] == ROOM


def test_comprehension_alone_is_a_check(db):
    study = make_study()
    study.check_questions.filter(purpose="screening").delete()
    walker = Walker(Client(), study)
    walker.come()
    assert "What does a 1 need?" in words(walker.agree())
    assert walker.check(1, 0).redirect_chain[-1][0] == ROOM


# The study's page


def test_the_next_part_is_offered_with_time_and_pay(walker):
    page = words(walker.prepare())
    assert "Next is part 1 of 2: 2 texts to read, after 1 to practise on." in page
    assert "Begin part 1" in page
    assert "About 30 minutes for a part" in page
    assert "4.50 GBP for each finished part" in page
    assert "Yours for 20 hours" in page
    assert "the same link brings you back" in page
    assert not walker.stay.sittings.exists()


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
    for one in walker.in_hand():
        page = walker.client.post(f"/work/{one.pk}/skip/", {"note": "Too long."}, follow=True)
    assert page.redirect_chain[-1][0] == ROOM
    assert "Every text here was skipped" in words(page)


def test_beginning_twice_is_once(walker):
    walker.prepare()
    first = walker.begin().redirect_chain[-1][0]
    assert walker.begin().redirect_chain[-1][0] == first
    assert walker.stay.sittings.count() == 1


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
    assert walker.stay.sittings.count() == 1


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
    Sitting.objects.update(expires=timezone.now() - timedelta(minutes=1))
    page = words(walker.come())
    assert "The time for your last part ended on" in page
    assert "Kept: 2 handed in, 0 begun. Given back untouched: 1." in page
    assert "You can begin again" in page
    assert "Begin part 1" in page
    assert walker.client.get(f"{ROOM}end/").status_code == 302
    walker.begin()
    assert walker.stay.sittings.count() == 2


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
    for name, value in change.items():
        setattr(study, name, value)
    study.save()
    page = walker.come()
    assert page.redirect_chain == [(ROOM, 302)]
    assert says in words(page)
    assert "return your submission" in words(page)
    assert walker.client.get(f"{ROOM}consent/").status_code == 302
    assert walker.client.post(f"{ROOM}begin/").status_code == 302
    assert not walker.stay.sittings.exists()


def test_a_pause_lets_people_finish_and_take_their_code(study, walker):
    walker.prepare()
    walker.begin()
    study.state = "paused"
    study.save()
    for one in walker.in_hand():
        page = walker.do(one)
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
    (stay,) = entry.make_links(study, ["Ann"])
    walker = Walker(Client(), study, "Ann")
    walker.client.force_login(stay.rater.user)
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
    walker.client.get("/start/crowd/?workerId=W1&assignmentId=A1&hitId=H1")
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
    actions.return_participant(walker.stay, cast.admin)
    page = walker.come()
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "You have left this study" in words(page)


# Practice


def test_feedback_shows_both_answers(walker):
    walker.prepare()
    walker.begin()
    practice = walker.in_hand()[0]
    assert walker.client.get(f"/work/{practice.pk}/feedback/").url == f"/work/{practice.pk}/"
    page = walker.do(practice)
    assert page.redirect_chain[-1][0] == f"/work/{practice.pk}/feedback/"
    assert "You agree on 1 of 2 questions." in words(page)
    assert "You differ" in words(page)
    assert '<mark data-mark="1" data-label="1">a pier had moved</mark>' in page.content.decode()
    assert "<q>a pier had moved</q>" in page.content.decode()


def test_only_practice_has_feedback(walker):
    walker.prepare()
    walker.begin()
    practice, first, _ = walker.in_hand()
    assert walker.client.get(f"/work/{first.pk}/feedback/").status_code == 404
    assert walker.client.post(f"/work/{practice.pk}/feedback/").status_code == 405
    assert walker.client.get("/work/999999/feedback/").status_code == 404
    other = Walker(Client(), walker.campaign, "other")
    other.prepare()
    assert other.client.get(f"/work/{practice.pk}/feedback/").status_code == 404


# Messages


def test_messages_stay_until_they_are_put_away(cast, study, walker):
    first = Message.objects.create(campaign=study, body="Question 3 is clearer now.")
    second = Message.objects.create(campaign=study, body="<b>Thanks</b>")
    page = walker.prepare()
    assert "Question 3 is clearer now." in words(page)
    assert "&lt;b&gt;Thanks" in page.content.decode()
    walker.client.post(f"{ROOM}messages/", {"newest": first.pk})
    page = words(walker.client.get(ROOM))
    assert "Question 3" not in page
    assert "Thanks" in page
    walker.client.post(f"{ROOM}messages/", {"newest": second.pk})
    walker.client.post(f"{ROOM}messages/", {"newest": first.pk})  # an older page
    assert "Thanks" not in words(walker.client.get(ROOM))
    assert walker.stay.seen_message == second.pk


@pytest.mark.parametrize("newest", ["", "x", "-1", "0", "9" * 30, "٣"])
def test_only_a_message_of_the_study_can_be_put_away(study, walker, newest):
    walker.prepare()
    assert walker.client.post(f"{ROOM}messages/", {"newest": newest}).status_code == 404
    elsewhere = Message.objects.create(campaign=make_study("other"), body="x")
    sent = walker.client.post(f"{ROOM}messages/", {"newest": elsewhere.pk})
    assert sent.status_code == 404
    assert walker.stay.seen_message == 0


# Who may see them


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_for_those_who_take_part(cast, study, page):
    send = "post" if page in ("begin/", "messages/") else "get"
    for who in ("worker", "researcher", "admin"):
        assert getattr(cast.client(who), send)(ROOM + page).status_code == 404, who
    refused = getattr(Client(), send)(ROOM + page)
    assert (refused.status_code, refused.url.partition("?")[0]) == (302, "/login/")
    walker = Walker(Client(), study)
    walker.come()
    assert getattr(walker.client, send)(f"/work/in/nowhere/{page}").status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_a_draft_are_not_there(study, page):
    walker = Walker(Client(), study)
    walker.come()
    study.state = "draft"
    study.save()
    send = "post" if page in ("begin/", "messages/") else "get"
    assert getattr(walker.client, send)(ROOM + page).status_code == 404


def test_wrong_methods_are_refused(walker):
    walker.prepare()
    for page in ("", "end/"):
        assert walker.client.post(ROOM + page).status_code == 405
    for page in ("begin/", "messages/"):
        assert walker.client.get(ROOM + page).status_code == 405
    for page in ("consent/", "check/"):
        assert walker.client.put(ROOM + page).status_code == 405


def test_nothing_is_begun_before_consent_and_check(walker):
    walker.come()
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}consent/"
    walker.agree()
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}check/"
    assert not Sitting.objects.exists()


def test_a_known_account_sees_its_study_as_before(cast, study):
    stay = assigning.invite(study, assigning.rater_of(cast.worker))
    Participant.objects.filter(pk=stay.pk).update(consented_at=timezone.now())
    study.check_questions.all().delete()
    page = cast.client("worker").get(ROOM)
    assert "On another device, log in there." in words(page)
    assert "My work" in words(page)
