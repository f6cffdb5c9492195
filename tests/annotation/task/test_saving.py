"""Many people and many tabs at once, on a real database with real threads."""

from threading import Event
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment, Campaign, Rating, User
from annotation.participation.assigning import rater_of
from annotation.task.saving import save_answer
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.threads import in_threads


@pytest.fixture
def assignment(transactional_db):
    worker = User.objects.create_user("wil")
    campaign = make_campaign(make_dataset(), worker)
    return Assignment.objects.filter(participant__campaign=campaign).first()


def test_answer_sent_by_eight_threads_is_stored_once(assignment):
    question = assignment.item.asked.first().question
    keys = [uuid4() for _ in range(5)]

    def send(key):
        mine = Assignment.objects.select_related("participant__campaign").get(pk=assignment.pk)
        return save_answer(mine, question, key=key, grade=1, spans=[]).pk

    in_threads(send, keys * 8)
    assert Answer.objects.count() == 5
    assert Rating.objects.count() == 1


def test_concurrent_answers_to_all_questions_are_stored(assignment):
    questions = [item_question.question for item_question in assignment.item.asked.all()]

    def send(number):
        mine = Assignment.objects.get(pk=assignment.pk)
        save_answer(mine, questions[number % 3], key=uuid4(), grade=number % 2, spans=[])

    in_threads(send, range(60))
    assert Answer.objects.count() == 60
    for question in questions:
        newest = Answer.objects.filter(question=question).last()
        assert Rating.objects.get(question=question).grade == newest.grade


def test_closing_while_answers_come_in_loses_none(assignment):
    questions = [item_question.question for item_question in assignment.item.asked.all()]

    closed = Event()

    def send(number):
        if number == 20:
            Campaign.objects.update(state="closed")
            return closed.set()
        if number >= 35:  # these come after it, however long it waited for the others
            closed.wait(60)
        mine = Assignment.objects.select_related("participant__campaign").get(pk=assignment.pk)
        return save_answer(mine, questions[number % 3], key=uuid4(), grade=number % 2, spans=[])

    in_threads(send, range(40))
    assert Answer.objects.count() == 39
    assert set(Answer.objects.values_list("late", flat=True)) == {"", "closed"}
    for rating in Rating.objects.all():
        answers = Answer.objects.filter(question=rating.question, late="")
        assert rating.grade == answers.order_by("pk").last().grade


def test_rater_is_made_once(transactional_db):
    user = User.objects.create_user("wil")
    assert len({rater.pk for rater in in_threads(lambda _: rater_of(user), range(16))}) == 1
