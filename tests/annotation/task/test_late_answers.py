"""Answers that come too late to count: kept, said to be so, and counted if the item is handed in after all."""

from uuid import uuid4

import pytest
from django.utils import translation

from annotation.models import Answer, Assignment, AttentionCheck, Campaign, Rating
from annotation.task import saving
from annotation.text.spans import Span
from tests.annotation.task.work_material import answer, question
from tests.factories import REPORT
from tests.markup import markup

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
ROOM = "/work/in/ferry-answerable/"
HOME = "/campaigns/ferry-answerable/"


def close(state: str = "closed") -> None:
    Campaign.objects.update(state=state)


def say(assignment, grade, *spans, key=None, position=0, **more) -> Answer:
    """Save an answer to an item as the database has it now."""
    now = Assignment.objects.select_related("participant__campaign", "item__text")
    mine = now.get(pk=assignment.pk)
    asked = question(mine, position)
    return saving.save_answer(mine, asked, key=key or uuid4(), grade=grade, spans=spans, **more)


def submit(assignment) -> None:
    saving.submit(Assignment.objects.select_related("participant__campaign").get(pk=assignment.pk))


@pytest.fixture
def taken_back(assignment):
    """An item that was taken back from its rater, and has no slot free."""
    Campaign.objects.update(raters_per_item=1)
    Assignment.objects.filter(pk=assignment.pk).update(state="released", slot=None)
    Assignment.objects.filter(item=assignment.item).exclude(pk=assignment.pk).update(slot=0)
    return assignment


def free_its_slot(assignment) -> None:
    Assignment.objects.filter(item=assignment.item).update(slot=None, state="released")


def test_an_answer_to_a_closed_study_is_kept_and_changes_nothing_else(assignment):
    words = Span(4, 7, REPORT[4:7])
    say(assignment, 1, words)
    hand_in_all(assignment)
    close()
    kept = say(assignment, None)
    assert (kept.late, kept.grade, kept.created is None) == ("closed", None, False)
    say(assignment, 0)
    say(assignment, 1, Span(0, 3, "The"), position=1)
    assert list(Answer.objects.order_by("pk").values_list("late", flat=True)) == [
        *([""] * 3),
        *(["closed"] * 3),
    ]
    assignment.refresh_from_db()
    assert assignment.state == "submitted"  # though the newest answers lack something
    ratings = Rating.objects.order_by("question__position")
    assert [(rating.grade, rating.spans.count()) for rating in ratings] == [(1, 1), (0, 0), (0, 0)]


def test_study_that_closes_between_read_and_save_is_closed_for_the_answer(assignment):
    """As where a request has read its item, and waits for the database while somebody closes the study."""
    mine = Assignment.objects.select_related("participant__campaign", "item__text")
    read_while_open = mine.get(pk=assignment.pk)
    hand_in_all(assignment)
    Assignment.objects.filter(pk=assignment.pk).update(state="open")
    close()
    kept = saving.save_answer(
        read_while_open, question(read_while_open), key=uuid4(), grade=1, spans=[Span(0, 3, "The")]
    )
    assert kept.late == "closed"
    assert not Rating.objects.filter(question=kept.question).exists()
    with pytest.raises(saving.AnswerRefusedError, match="closed"):
        saving.submit(mine.get(pk=assignment.pk))
    read_while_open.participant.campaign.state = "open"
    with pytest.raises(saving.AnswerRefusedError, match="closed"):
        saving.submit(read_while_open)
    with pytest.raises(saving.AnswerRefusedError, match="closed"):
        saving.skip(read_while_open, "")
    assignment.refresh_from_db()
    assert assignment.state == "open"


def hand_in_all(assignment) -> None:
    for position in (1, 2):
        say(assignment, 0, position=position)
    submit(assignment)


@pytest.mark.parametrize("state", ["open", "skipped", "submitted", "released"])
def test_no_work_is_taken_up_in_a_closed_study(assignment, state):
    slot = None if state == "released" else assignment.slot
    Assignment.objects.filter(pk=assignment.pk).update(state=state, slot=slot)
    close()
    assert say(assignment, 1).late == "closed"
    assignment.refresh_from_db()
    assert (assignment.state, assignment.slot) == (state, slot)
    assert not Rating.objects.exists()


def test_the_page_is_told_that_it_is_kept_and_why(cast, assignment):
    close()
    client = cast.client("worker")
    sent = answer(client, assignment, grade="1", quotes=["112 people"], **BY_SCRIPT)
    assert sent.status_code == 200
    assert "no longer counts: the study is closed" in sent.json()["says"]
    kept = Answer.objects.get()
    assert (kept.late, kept.grade, kept.spans[0]["quote"]) == ("closed", 1, "112 people")
    page = markup(client.get(assignment.get_absolute_url()))
    assert "This study is closed: answers are kept" in page
    assert '<q dir="auto" translate="no">112 people</q>' in page


def test_it_is_told_in_the_language_of_the_study(cast, assignment):
    Campaign.objects.update(state="closed", language="de")
    says = answer(cast.client("worker"), assignment, grade="0", **BY_SCRIPT).json()["says"]
    with translation.override("de"):
        assert says == translation.gettext(
            "Your answer is kept, but no longer counts: the study is closed."
        )
    assert "Studie" in says


def test_a_form_without_scripts_is_told_the_same(cast, assignment):
    close()
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    sent = {"key": uuid4(), "grade": "1", "quotes": "112 people"}
    response = cast.client("worker").post(url, sent, follow=True)
    page = response.content.decode()
    assert "no longer counts: the study is closed" in page
    assert "is saved" not in page
    assert response.redirect_chain == [(f"/work/{assignment.pk}/#q-1", 302)]
    assert Answer.objects.get().late == "closed"


def test_an_attention_check_in_a_closed_study_is_kept_too(cast, assignment):
    check = AttentionCheck.objects.create(
        campaign=assignment.participant.campaign, position=0, body="Choose 0.", expected=0
    )
    Assignment.objects.filter(pk=assignment.pk).update(check_asked=check)
    close()
    url = f"/work/{assignment.pk}/checks/{check.pk}/"
    response = cast.client("worker").post(url, {"key": uuid4(), "grade": 0}, **BY_SCRIPT)
    assert "is kept" in response.json()["says"]
    assert (Answer.objects.get().check_asked, Answer.objects.get().late) == (check, "closed")


def test_a_bad_answer_and_another_persons_are_refused_as_ever(cast, assignment):
    close()
    assert answer(cast.client("worker"), assignment, grade="7", **BY_SCRIPT).status_code == 422
    assert answer(cast.client("other_worker"), assignment, **BY_SCRIPT).status_code == 404
    assert not Answer.objects.exists()


def test_the_same_key_is_the_same_answer_also_when_the_study_was_closed_between(cast, assignment):
    client, early, late = cast.client("worker"), uuid4(), uuid4()
    answer(client, assignment, grade="0", key=early, **BY_SCRIPT)
    close()
    # The reply was lost: it was in time, and is told so.
    assert answer(client, assignment, grade="0", key=early, **BY_SCRIPT).status_code == 204
    for _ in range(2):
        assert answer(client, assignment, key=late, **BY_SCRIPT).status_code == 200
    assert answer(client, assignment, grade="0", key=late, **BY_SCRIPT).status_code == 422
    assert list(Answer.objects.order_by("pk").values_list("late", flat=True)) == ["", "closed"]
    assert Rating.objects.get().grade == 0


def test_nobody_has_to_choose_between_answers_that_do_not_count(assignment):
    say(assignment, 1)
    close()
    say(assignment, 0, base=None, knows_base=True)  # given without knowledge of the 1
    assert Answer.objects.count() == 2
    assert Rating.objects.get().grade == 1
    close("open")
    with pytest.raises(saving.ConflictError):
        say(assignment, 1, base=None, knows_base=True)


def test_it_takes_no_more_statements_than_in_an_open_study(
    cast, assignment, django_assert_max_num_queries
):
    close()
    client = cast.client("worker")
    with django_assert_max_num_queries(11):
        answer(client, assignment, quotes=["112 people"], **BY_SCRIPT)


def test_handing_in_and_skipping_are_refused_and_a_note_is_kept(cast, assignment):
    close()
    client = cast.client("worker")
    for position in range(3):
        answer(client, assignment, position=position, grade="0", **BY_SCRIPT)
    assert client.post(f"/work/{assignment.pk}/submit/", **BY_SCRIPT).status_code == 422
    page = client.post(f"/work/{assignment.pk}/submit/", follow=True).content.decode()
    assert "Not handed in; your answers are kept. This study is closed." in page
    skip = f"/work/{assignment.pk}/skip/"
    refused = client.post(skip, {"note": "It ends in mid-sentence."}, **BY_SCRIPT)
    assert refused.status_code == 422
    assert refused.content.decode() == "This study is closed. Your note is kept."
    assert "note" not in client.post(skip, {"note": ""}, **BY_SCRIPT).content.decode()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note) == ("open", "It ends in mid-sentence.")
    page = cast.client("researcher").get(HOME).content.decode()
    assert "It ends in mid-sentence." in page


def test_nothing_can_be_begun_in_a_closed_study(cast, assignment):
    close()
    client = cast.client("worker")
    assert "This study is closed" in client.get(ROOM).content.decode()
    assignment.participant.parts.update(outcome="done")
    client.post(f"{ROOM}begin/")
    assert assignment.participant.parts.count() == 1


def test_what_came_late_counts_once_the_item_is_handed_in_after_all(assignment):
    say(assignment, 0)
    close()
    say(assignment, None)
    say(assignment, 1, Span(4, 7, REPORT[4:7]))
    for position in (1, 2):
        say(assignment, 0, position=position)
    close("open")
    assert [rating.grade for rating in Rating.objects.all()] == [0]
    submit(assignment)
    ratings = Rating.objects.order_by("question__position")
    assert [(rating.grade, rating.spans.count()) for rating in ratings] == [(1, 1), (0, 0), (0, 0)]
    # The one that was not the newest never counted.
    assert list(Answer.objects.exclude(late="").values_list("grade", flat=True)) == [None]


def test_a_late_change_of_an_item_that_was_handed_in_counts_when_it_is_handed_in_again(assignment):
    say(assignment, 0)
    hand_in_all(assignment)
    close()
    say(assignment, 1, Span(4, 7, REPORT[4:7]))
    close("open")
    submit(assignment)
    assert sorted(rating.grade for rating in Rating.objects.all()) == [0, 0, 1]


def test_late_answers_of_a_pilot_never_become_ratings(assignment):
    Campaign.objects.update(is_pilot=True, state="closed")
    for position in range(3):
        say(assignment, 0, position=position)
    close("open")
    submit(assignment)
    assert not Rating.objects.exists()
    assert set(Answer.objects.values_list("late", flat=True)) == {""}


def test_an_answer_to_an_item_that_was_taken_back_is_kept_and_said_to_be(cast, taken_back):
    says = answer(cast.client("worker"), taken_back, grade="0", **BY_SCRIPT).json()["says"]
    assert "no longer counts: the time for this text ended" in says
    assert Answer.objects.get().late == "taken_back"
    assert not Rating.objects.exists()


def test_it_counts_if_the_item_comes_back_and_is_handed_in(taken_back):
    say(taken_back, 0)
    free_its_slot(taken_back)
    hand_in_all(taken_back)
    assert [rating.grade for rating in Rating.objects.all()] == [0, 0, 0]
    assert set(Answer.objects.values_list("late", flat=True)) == {""}
