"""Survey before and after the work: order of the pages, stored answers, refusals."""

import pytest
from django.test import Client

from annotation.models import Campaign, Participant, SurveyAnswer
from annotation.monitoring import actions
from annotation.participation import survey
from tests.annotation.study_material import ROOM, text_of_page
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.german_study import find_english, make_german_study
from tests.toolbox.prolific_study import Walker
from tests.toolbox.survey import QUESTIONS, add_survey, make_surveyed_study, send, survey_url
from tests.toolbox.users import make_cast


@pytest.fixture
def study(db) -> Campaign:
    return make_surveyed_study()


@pytest.fixture
def walker(study) -> Walker:
    return Walker(Client(), study)


@pytest.fixture
def done(walker) -> Walker:
    """With the only part done, and the page after the work not sent."""
    walker.prepare()
    send(walker, "before", "1", ["0", "2"])
    walker.do_part()
    return walker


def stored(campaign: Campaign) -> list[object]:
    answers = SurveyAnswer.objects.filter(question__campaign=campaign)
    return list(
        answers.order_by("-question__page", "question__position").values_list("value", flat=True)
    )


def test_survey_page_comes_after_the_check_and_before_the_first_text(walker):
    walker.prepare()
    page = walker.client.get(ROOM, follow=True)
    assert page.redirect_chain[-1][0] == f"{ROOM}questions-before/"
    assert "How old are you?" in text_of_page(page)
    assert "The researchers see this answer without your name." in text_of_page(page)
    assert walker.begin().redirect_chain[-1][0] == f"{ROOM}questions-before/"
    page = send(walker, "before", "1", ["0", "2"])
    assert page.redirect_chain[-1][0] == ROOM
    assert stored(walker.campaign) == [1, [0, 2]]
    assert walker.participant.surveyed_at is not None
    walker.begin()
    assert len(walker.in_hand()) == 2


def test_page_without_required_questions_is_sent_empty(db):
    study = make_surveyed_study()
    study.survey_questions.update(is_required=False)
    walker = Walker(Client(), study)
    walker.prepare()
    assert send(walker, "before", "", None).redirect_chain[-1][0] == ROOM
    assert stored(study) == []
    page = walker.do_part()
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "2 questions about the study are left." in text_of_page(page)
    assert "DONE1" in text_of_page(page)
    assert "data-leave=" not in page.content.decode()


def test_required_question_after_the_work_comes_with_the_code(done):
    page = done.client.get(f"{ROOM}end/", follow=True)
    assert page.redirect_chain[-1][0] == f"{ROOM}questions-after/"
    text = text_of_page(page)
    assert "Your work is saved. Thank you! 2 questions are left." in text
    assert "Your pay does not depend on these answers." in text
    assert text.index("How hard was the work?") < text.index("DONE1")
    assert "complete?cc=DONE1" in page.content.decode()
    assert "data-leave=" not in page.content.decode()
    page = send(done, "after", "4", "=Nothing")
    assert page.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "DONE1" in text_of_page(page)
    assert "data-leave=" in page.content.decode()
    assert stored(done.campaign)[2:] == [4, "=Nothing"]


def test_answers_can_be_changed_and_withdrawn_while_the_study_is_open(done):
    send(done, "after", "4", "Nothing")
    page = done.client.get(survey_url(done, "after")).content.decode()
    assert "Nothing</textarea>" in page
    send(done, "after", "5", "")
    assert stored(done.campaign)[2:] == [5]


BAD = [
    ("before", ("", None), "Please choose an answer."),
    ("before", ("2", None), "Select a valid choice"),
    ("before", ("x", None), "Select a valid choice"),
    ("before", ("1", ["0", "7"]), "Select a valid choice"),
    ("after", ("0", ""), "Select a valid choice"),
    ("after", ("6", ""), "Select a valid choice"),
    ("after", (None, "unclear"), "Please choose an answer."),
    ("after", ("1", "x" * 2001), "at most 2000 characters"),
    ("after", ("1", "\0"), "Null characters"),
]


@pytest.mark.parametrize(("page", "answers", "message"), BAD)
def test_bad_answers_are_named_and_change_nothing(done, page, answers, message):
    before = stored(done.campaign)
    response = send(done, page, *answers)
    assert response.status_code == 422
    assert message in text_of_page(response)
    assert stored(done.campaign) == before


def test_other_answers_from_another_tab_are_not_overwritten_in_silence(done):
    first = done.client.get(survey_url(done, "after")).context["form"].version
    send(done, "after", "4", "Nothing", version=first)
    assert send(done, "after", "4", "Nothing", version=first).status_code == 200  # a second click
    refused = send(done, "after", "2", "All", version=first)
    assert refused.status_code == 409
    assert "in another place" in text_of_page(refused)
    assert "In the other place: 4" in text_of_page(refused)
    assert "In the other place: Nothing" in text_of_page(refused)
    assert "All</textarea>" in refused.content.decode()
    assert stored(done.campaign)[2:] == [4, "Nothing"]
    send(done, "after", "2", "All", version=refused.context["form"].version)
    assert stored(done.campaign)[2:] == [2, "All"]


def test_conflict_names_the_stored_answers_that_differ_alone(walker):
    walker.prepare()
    first = walker.client.get(survey_url(walker, "before")).context["form"].version
    send(walker, "before", "1", ["0", "2"], version=first)
    refused = send(walker, "before", "1", [], version=first)
    assert refused.status_code == 409
    options = walker.campaign.survey_questions.get(kind="multiple").options
    assert f"In the other place: {options[0]}, {options[2]}" in text_of_page(refused)
    assert text_of_page(refused).count("In the other place") == 1
    resent = send(walker, "before", "0", [], version=refused.context["form"].version)
    assert resent.status_code == 200
    refused = send(walker, "before", "1", ["0"], version=first)
    assert "In the other place: No answer" in text_of_page(refused)


def test_refused_answers_still_notice_those_from_another_tab(done):
    first = done.client.get(survey_url(done, "after")).context["form"].version
    send(done, "after", "4", "Nothing", version=first)
    refused = send(done, "after", "7", "All", version=first)
    assert refused.status_code == 422
    resent = send(done, "after", "2", "All", version=refused.context["form"].version)
    assert resent.status_code == 409
    assert stored(done.campaign)[2:] == [4, "Nothing"]


@pytest.mark.django_db(transaction=True)
def test_two_posts_at_the_same_time_are_stored_once():
    walker = Walker(Client(), make_surveyed_study())
    walker.prepare()

    def post():
        return send(walker, "before", "1", ["0"], follow=False)

    first, second = at_once(post, post, after_reading=Participant)
    assert (first.status, second.status) == (302, 302)
    assert stored(walker.campaign) == [1, [0]]


@pytest.mark.parametrize("page", ["before", "after"])
def test_closed_study_takes_no_answers_and_still_gives_the_code(done, page):
    Campaign.objects.update(state="closed")
    before = stored(done.campaign)
    answers = ("0", None) if page == "before" else ("1", "late")
    refused = send(done, page, *answers)
    assert refused.status_code == 409
    assert "Your answers are not saved." in text_of_page(refused)
    assert stored(done.campaign) == before
    end = done.client.get(survey_url(done, "after"), follow=True)
    assert end.redirect_chain[-1][0] == f"{ROOM}end/"
    assert "DONE1" in text_of_page(end)


def test_pages_are_only_for_their_own_person_and_step(study, walker):
    walker.arrive()
    walker.agree()
    for page in ("before", "after"):
        assert (
            walker.client.get(survey_url(walker, page), follow=True).redirect_chain[-1][0]
            == f"{ROOM}check/"
        )
        assert walker.client.put(survey_url(walker, page)).status_code == 405
        assert Client().get(survey_url(walker, page)).status_code == 302  # to the log-in
    assert send(walker, "before", "1", None).redirect_chain[-1][0] == f"{ROOM}check/"
    assert send(walker, "after", "1", "").redirect_chain[-1][0] == f"{ROOM}check/"
    assert not SurveyAnswer.objects.exists()
    cast = make_cast()
    outsider = cast.client("worker")
    for page in ("before", "after"):
        assert outsider.get(survey_url(walker, page)).status_code == 404
        assert outsider.post(survey_url(walker, page), {}).status_code == 404


def test_question_of_another_campaign_is_ignored(done):
    another_study = make_surveyed_study("other")
    question = another_study.survey_questions.first()
    send(done, "after", "1", "", **{f"question-{question.pk}": "0"})
    assert stored(another_study) == []


def test_erasing_deletes_the_answers_and_asks_nothing_again(done):
    send(done, "after", "4", "I am Jo of Leeds")
    participant = done.participant
    actions.erase(participant, make_cast().admin, with_notes=False)
    assert not SurveyAnswer.objects.exists()
    participant.refresh_from_db()
    with pytest.raises(survey.SurveyError, match="was deleted"):
        survey.save_answers(participant, "after", {}, "")
    assert not survey.is_due_before(participant)


def test_german_pages_have_no_english(db):
    study = make_german_study(n_training=0, items_per_part=2, max_parts=1)
    labels = {"options": ["wenig", "viel"], "points": None}
    rows = [
        row | {"body": "Wie sehr?"} | (labels if row.get("options") else {}) for row in QUESTIONS
    ]
    add_survey(study, [row | ({"points": 3} if row["kind"] == "scale" else {}) for row in rows])
    walker = Walker(Client(), study)
    walker.prepare()
    page = walker.client.get(ROOM, follow=True)
    assert "Fragen vor der Arbeit" in text_of_page(page)
    assert find_english(page.content.decode()) == []
    assert find_english(send(walker, "before", "", None).content.decode()) == []
    send(walker, "before", "1", None)
    walker.begin()
    for assignment in walker.in_hand():
        page = walker.do(assignment)
    assert "Fragen nach der Arbeit" in text_of_page(page)
    assert find_english(page.content.decode()) == []
