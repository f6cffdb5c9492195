"""Late answers: stored, reported as such, and counted if the item is submitted after all."""

from uuid import uuid4

import pytest
from django.utils import translation

from annotation.models import Answer, Assignment, AttentionCheck, Campaign, Rating
from annotation.task import saving
from annotation.text.spans import Span
from tests.toolbox.factories import REPORT
from tests.toolbox.responses import markup
from tests.toolbox.task_answers import answer, question

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
ROOM = "/work/in/ferry-answerable/"
HOME = "/campaigns/ferry-answerable/"


def close(state: str = "closed") -> None:
    Campaign.objects.update(state=state)


def give_answer(assignment, grade, *spans, key=None, position=0, **more) -> Answer:
    """Save an answer to an item as the database has it now."""
    assignments = Assignment.objects.select_related("participant__campaign", "item__text")
    mine = assignments.get(pk=assignment.pk)
    answered_question = question(mine, position)
    return saving.save_answer(
        mine, answered_question, key=key or uuid4(), grade=grade, spans=spans, **more
    )


def submit(assignment) -> None:
    saving.submit(Assignment.objects.select_related("participant__campaign").get(pk=assignment.pk))


@pytest.fixture
def released_item(assignment):
    """An item that was taken back from its rater, and has no slot free."""
    Campaign.objects.update(raters_per_item=1)
    Assignment.objects.filter(pk=assignment.pk).update(state="released", slot=None)
    Assignment.objects.filter(item=assignment.item).exclude(pk=assignment.pk).update(slot=0)
    return assignment


def free_its_slot(assignment) -> None:
    Assignment.objects.filter(item=assignment.item).update(slot=None, state="released")


def test_answer_to_a_closed_study_is_kept_and_changes_nothing_else(assignment):
    span = Span(4, 7, REPORT[4:7])
    give_answer(assignment, 1, span)
    hand_in_all(assignment)
    close()
    late_answer = give_answer(assignment, None)
    assert (late_answer.late, late_answer.grade, late_answer.created is None) == (
        "closed",
        None,
        False,
    )
    give_answer(assignment, 0)
    give_answer(assignment, 1, Span(0, 3, "The"), position=1)
    assert list(Answer.objects.order_by("pk").values_list("late", flat=True)) == [
        *([""] * 3),
        *(["closed"] * 3),
    ]
    assignment.refresh_from_db()
    assert assignment.state == "submitted"  # though the newest answers lack something
    ratings = Rating.objects.order_by("question__position")
    assert [(rating.grade, rating.spans.count()) for rating in ratings] == [(1, 1), (0, 0), (0, 0)]


def test_study_that_closes_between_read_and_save_is_closed_for_the_answer(assignment):
    """A request has read its item, and waits for the database while the study is closed."""
    mine = Assignment.objects.select_related("participant__campaign", "item__text")
    read_while_open = mine.get(pk=assignment.pk)
    give_answer(assignment, 0)
    hand_in_all(assignment)
    Assignment.objects.filter(pk=assignment.pk).update(state="open")
    close()
    late_answer = saving.save_answer(
        read_while_open, question(read_while_open), key=uuid4(), grade=1, spans=[Span(0, 3, "The")]
    )
    assert late_answer.late == "closed"
    assert Rating.objects.get(question=late_answer.question).grade == 0
    with pytest.raises(saving.AnswerError, match="closed"):
        saving.submit(mine.get(pk=assignment.pk))
    read_while_open.participant.campaign.state = "open"
    with pytest.raises(saving.AnswerError, match="closed"):
        saving.submit(read_while_open)
    with pytest.raises(saving.AnswerError, match="closed"):
        saving.skip(read_while_open, "")
    assignment.refresh_from_db()
    assert assignment.state == "open"


def hand_in_all(assignment) -> None:
    for position in (1, 2):
        give_answer(assignment, 0, position=position)
    submit(assignment)


@pytest.mark.parametrize("state", ["open", "skipped", "submitted", "released"])
def test_closed_study_retakes_no_item(assignment, state):
    slot = None if state == "released" else assignment.slot
    Assignment.objects.filter(pk=assignment.pk).update(state=state, slot=slot)
    close()
    assert give_answer(assignment, 1).late == "closed"
    assignment.refresh_from_db()
    assert (assignment.state, assignment.slot) == (state, slot)
    assert not Rating.objects.exists()


def test_script_gets_the_reason_of_a_late_answer(cast, assignment):
    close()
    client = cast.client("worker")
    sent = answer(client, assignment, grade="1", quotes=["112 people"], **BY_SCRIPT)
    assert sent.status_code == 200
    assert "no longer counts: the study is closed" in sent.json()["says"]
    late_answer = Answer.objects.get()
    assert (late_answer.late, late_answer.grade, late_answer.spans[0]["quote"]) == (
        "closed",
        1,
        "112 people",
    )
    page = markup(client.get(assignment.get_absolute_url()))
    assert "This study is closed: answers are kept" in page
    assert '<q dir="auto" translate="no">112 people</q>' in page


def test_late_message_is_in_the_language_of_the_study(cast, assignment):
    Campaign.objects.update(state="closed", language="de")
    message = answer(cast.client("worker"), assignment, grade="0", **BY_SCRIPT).json()["says"]
    with translation.override("de"):
        assert message == translation.gettext(
            "Your answer is kept, but no longer counts: the study is closed."
        )
    assert "Studie" in message


def test_form_without_scripts_gets_the_reason_of_a_late_answer(cast, assignment):
    close()
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    sent = {"key": uuid4(), "grade": "1", "quotes": "112 people"}
    response = cast.client("worker").post(url, sent, follow=True)
    page = response.content.decode()
    assert "no longer counts: the study is closed" in page
    assert "is saved" not in page
    assert response.redirect_chain == [(f"/work/{assignment.pk}/#q-1", 302)]
    assert Answer.objects.get().late == "closed"


def test_attention_check_in_a_closed_study_is_kept_too(cast, assignment):
    check = AttentionCheck.objects.create(
        campaign=assignment.participant.campaign, position=0, body="Choose 0.", expected=0
    )
    Assignment.objects.filter(pk=assignment.pk).update(check_asked=check)
    close()
    url = f"/work/{assignment.pk}/checks/{check.pk}/"
    response = cast.client("worker").post(url, {"key": uuid4(), "grade": 0}, **BY_SCRIPT)
    assert "is kept" in response.json()["says"]
    assert (Answer.objects.get().check_asked, Answer.objects.get().late) == (check, "closed")


def test_bad_answer_and_another_persons_are_refused_as_ever(cast, assignment):
    close()
    assert answer(cast.client("worker"), assignment, grade="7", **BY_SCRIPT).status_code == 422
    assert answer(cast.client("other_worker"), assignment, **BY_SCRIPT).status_code == 404
    assert not Answer.objects.exists()


def test_same_key_is_the_same_answer_also_when_the_study_was_closed_between(cast, assignment):
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


def test_late_answers_raise_no_conflict(assignment):
    give_answer(assignment, 1)
    close()
    give_answer(assignment, 0, base=None, knows_base=True)  # given without knowledge of the 1
    assert Answer.objects.count() == 2
    assert Rating.objects.get().grade == 1
    close("open")
    with pytest.raises(saving.AnswerConflictError):
        give_answer(assignment, 1, base=None, knows_base=True)


def test_late_answer_takes_no_more_queries(cast, assignment, django_assert_max_num_queries):
    client = cast.client("worker")
    answer(client, assignment, quotes=["112 people"], **BY_SCRIPT)  # fills the caches
    close()
    with django_assert_max_num_queries(11):
        answer(client, assignment, quotes=["112 people"], **BY_SCRIPT)


def test_late_submission_and_skip_are_refused_and_keep_the_note(cast, assignment):
    close()
    client = cast.client("worker")
    for position in range(3):
        answer(client, assignment, position=position, grade="0", **BY_SCRIPT)
    assert client.post(f"/work/{assignment.pk}/submit/", **BY_SCRIPT).status_code == 422
    page = client.post(f"/work/{assignment.pk}/submit/", follow=True).content.decode()
    assert "Not submitted; your answers are kept. This study is closed." in page
    skip = f"/work/{assignment.pk}/skip/"
    refused = client.post(skip, {"note": "It ends in mid-sentence."}, **BY_SCRIPT)
    assert refused.status_code == 422
    assert refused.content.decode() == "This study is closed. Your note is kept."
    assert "note" not in client.post(skip, {"note": ""}, **BY_SCRIPT).content.decode()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note) == ("open", "It ends in mid-sentence.")
    page = cast.client("researcher").get(HOME).content.decode()
    assert "It ends in mid-sentence." in page


def test_closed_study_cannot_be_begun(cast, assignment):
    close()
    client = cast.client("worker")
    assert "This study is closed" in client.get(ROOM).content.decode()
    assignment.participant.parts.update(outcome="done")
    client.post(f"{ROOM}begin/")
    assert assignment.participant.parts.count() == 1


def test_late_answer_counts_after_submission(assignment):
    give_answer(assignment, 0)
    close()
    give_answer(assignment, None)
    give_answer(assignment, 1, Span(4, 7, REPORT[4:7]))
    for position in (1, 2):
        give_answer(assignment, 0, position=position)
    close("open")
    assert [rating.grade for rating in Rating.objects.all()] == [0]
    submit(assignment)
    ratings = Rating.objects.order_by("question__position")
    assert [(rating.grade, rating.spans.count()) for rating in ratings] == [(1, 1), (0, 0), (0, 0)]
    # The one that was not the newest never counted.
    assert list(Answer.objects.exclude(late="").values_list("grade", flat=True)) == [None]


def test_late_change_of_a_submitted_item_counts_after_resubmission(assignment):
    give_answer(assignment, 0)
    hand_in_all(assignment)
    close()
    give_answer(assignment, 1, Span(4, 7, REPORT[4:7]))
    close("open")
    submit(assignment)
    assert sorted(rating.grade for rating in Rating.objects.all()) == [0, 0, 1]


def test_late_answers_of_a_pilot_never_become_ratings(assignment):
    Campaign.objects.update(is_pilot=True, state="closed")
    for position in range(3):
        give_answer(assignment, 0, position=position)
    close("open")
    submit(assignment)
    assert not Rating.objects.exists()
    assert set(Answer.objects.values_list("late", flat=True)) == {""}


def test_answer_to_a_released_item_is_stored_and_reported_as_late(cast, released_item):
    message = answer(cast.client("worker"), released_item, grade="0", **BY_SCRIPT).json()["says"]
    assert "no longer counts: other people have this text now" in message
    assert Answer.objects.get().late == "taken_back"
    assert not Rating.objects.exists()


def test_late_answer_counts_if_the_item_is_retaken_and_submitted(released_item):
    give_answer(released_item, 0)
    free_its_slot(released_item)
    hand_in_all(released_item)
    assert [rating.grade for rating in Rating.objects.all()] == [0, 0, 0]
    assert set(Answer.objects.values_list("late", flat=True)) == {""}
