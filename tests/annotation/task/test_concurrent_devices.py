"""Answers from two tabs or devices: a newer one is never overwritten in silence."""

from uuid import uuid4

import pytest

from annotation.models import Answer, AttentionCheck, Campaign, Item, Rating
from tests.toolbox.task_answers import BY_SCRIPT, send


@pytest.fixture
def url(assignment):
    return f"/work/{assignment.pk}/answers/{assignment.item.asked.first().question_id}/"


def test_answer_that_names_the_newest_replaces_it(cast, url):
    client, first = cast.client("worker"), uuid4()
    assert send(client, url, 1, key=first).status_code == 204
    assert send(client, url, 0, base=first).status_code == 204
    assert Rating.objects.get().grade == 0


def test_answer_without_the_newest_base_gets_a_conflict(cast, url):
    client, first = cast.client("worker"), uuid4()
    send(client, url, 1, key=first)
    response = send(client, url, 0)
    assert response.status_code == 409
    reply = response.json()
    assert reply.pop("at")
    assert reply == {
        "url": url,
        "key": str(first),
        "grade": 1,
        "spans": [],
        "note": "",
        "confidence": "",
    }
    assert Answer.objects.count() == 1
    assert Rating.objects.get().grade == 1


def test_sending_again_after_a_newer_answer_changes_nothing(cast, url):
    client, first, second = cast.client("worker"), uuid4(), uuid4()
    send(client, url, 1, key=first)
    send(client, url, 0, key=second, base=first)
    assert send(client, url, 1, key=first).status_code == 204
    assert Answer.objects.count() == 2
    assert Rating.objects.get().grade == 0


def test_base_that_never_arrived_is_no_conflict(cast, url):
    assert send(cast.client("worker"), url, 1, base=uuid4()).status_code == 204


def test_state_of_an_item_lists_the_newest_answers(cast, assignment, url):
    client, first, second = cast.client("worker"), uuid4(), uuid4()
    send(client, url, 1, key=first)
    send(client, url, 0, key=second, base=first)
    state = client.get(f"/work/{assignment.pk}/state/").json()
    assert state["state"] == "open"
    assert [(answer["url"], answer["key"], answer["grade"]) for answer in state["answers"]] == [
        (url, str(second), 0)
    ]
    assert client.post(f"/work/{assignment.pk}/state/").status_code == 405
    assert cast.client("other_worker").get(f"/work/{assignment.pk}/state/").status_code == 404
    assert cast.client("stranger").get(f"/work/{assignment.pk}/state/").status_code == 302


def test_active_time_is_kept_with_the_answer_and_with_the_hand_in(cast, assignment, url):
    client = cast.client("worker")
    assert send(client, url, 0, active_ms=1200).status_code == 204
    assert send(client, url, 0, active_ms=-5).status_code == 422
    assert send(client, url, 0, active_ms="long").status_code == 422
    assert Answer.objects.get().active_ms == 1200
    for item_question in assignment.item.asked.all()[1:]:
        send(client, f"/work/{assignment.pk}/answers/{item_question.question_id}/", 0)
    for _ in range(2):  # submitting twice is once
        client.post(f"/work/{assignment.pk}/submit/", {"active_ms": 300}, **BY_SCRIPT)
    assignment.refresh_from_db()
    assert (assignment.state, assignment.active_ms) == ("submitted", 300)


@pytest.mark.parametrize("kind", ["pilot", "training"])
def test_answers_of_a_pilot_and_of_training_are_kept_and_are_no_ratings(cast, url, kind):
    if kind == "pilot":
        Campaign.objects.update(is_pilot=True)
    else:
        Item.objects.update(purpose="training")
    assert send(cast.client("worker"), url, 1).status_code == 204
    assert Answer.objects.count() == 1
    assert not Rating.objects.exists()


def test_attention_check_is_asked_among_the_questions_and_is_no_rating(cast, assignment):
    check = AttentionCheck.objects.create(
        campaign=assignment.participant.campaign, position=0, body="Choose 0 here.", expected=0
    )
    client = cast.client("worker")
    url = f"/work/{assignment.pk}/checks/{check.pk}/"
    assert send(client, url, 0).status_code == 404  # it is not asked in this item
    assignment.check_asked = check
    assignment.save()
    assert "Choose 0 here." in client.get(assignment.get_absolute_url()).content.decode()
    assert send(client, url, 1).status_code == 204
    assert send(cast.client("other_worker"), url, 0).status_code == 404
    answer = Answer.objects.get()
    assert (answer.check_asked, answer.question, answer.grade) == (check, None, 1)
    assert not Rating.objects.exists()
    for item_question in assignment.item.asked.all():
        send(client, f"/work/{assignment.pk}/answers/{item_question.question_id}/", 0)
    assert client.post(f"/work/{assignment.pk}/submit/", **BY_SCRIPT).status_code == 200


def test_submission_with_an_open_attention_check_is_refused(cast, assignment):
    assignment.check_asked = AttentionCheck.objects.create(
        campaign=assignment.participant.campaign, position=0, body="Choose 0 here.", expected=0
    )
    assignment.save()
    client = cast.client("worker")
    for item_question in assignment.item.asked.all():
        send(client, f"/work/{assignment.pk}/answers/{item_question.question_id}/", 0)
    response = client.post(f"/work/{assignment.pk}/submit/", **BY_SCRIPT)
    assert response.status_code == 422
    assert "one question is" in response.content.decode() or "1 question is" in (
        response.content.decode()
    )
