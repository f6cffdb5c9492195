"""/work/<item>/feedback/: answers to a training text beside the expected ones."""

from uuid import uuid4

import pytest
from django.test import Client

from annotation.models import Answer, Campaign, Item, ItemQuestion
from tests.annotation.study_material import text_of_page
from tests.toolbox.prolific_study import Walker, make_study


@pytest.fixture
def walker(db):
    return Walker(Client(), make_study())


def test_feedback_shows_both_answers(walker):
    walker.prepare()
    walker.begin()
    practice = walker.in_hand()[0]
    assert walker.client.get(f"/work/{practice.pk}/feedback/").url == f"/work/{practice.pk}/"
    page = walker.do(practice)
    assert page.redirect_chain[-1][0] == f"/work/{practice.pk}/feedback/"
    assert "You agree on 1 of 2 questions." in text_of_page(page)
    assert "You differ" in text_of_page(page)
    assert '<mark data-mark="1" data-label="1">a pier had moved</mark>' in page.content.decode()
    assert '<q dir="auto" translate="no">a pier had moved</q>' in page.content.decode()


def test_only_practice_has_feedback(walker):
    walker.prepare()
    walker.begin()
    practice, first, _ = walker.in_hand()
    assert walker.client.get(f"/work/{first.pk}/feedback/").status_code == 404
    assert walker.client.post(f"/work/{practice.pk}/feedback/").status_code == 405
    assert walker.client.get("/work/999999/feedback/").status_code == 404
    other_walker = Walker(Client(), walker.campaign, "other")
    other_walker.prepare()
    assert other_walker.client.get(f"/work/{practice.pk}/feedback/").status_code == 404


def test_feedback_shows_the_reason_of_the_expected_answer(walker):
    questions = ItemQuestion.objects.filter(
        item__campaign=walker.campaign, item__purpose="training"
    )
    questions.filter(position=0).update(expected_reason="A pier had\nmoved <first>.")
    walker.prepare()
    walker.begin()
    page = walker.do(walker.in_hand()[0]).content.decode()
    assert page.count("Why:") == 1
    assert "A pier had<br>moved &lt;first&gt;." in page


@pytest.fixture
def gold(walker):
    """A submitted text of the study, made hidden gold."""
    walker.prepare()
    walker.begin()
    practice, first, _ = walker.in_hand()
    walker.do(practice)
    Item.objects.filter(pk=first.item_id).update(purpose=Item.Purpose.GOLD)
    first.item.asked.update(expected=1, expected_reason="It is in the text.")
    return first


def test_gold_has_feedback_if_the_study_says_so(walker, gold):
    Campaign.objects.update(gold_feedback=True)
    page = walker.do(gold)
    assert page.redirect_chain[-1][0] == f"/work/{gold.pk}/feedback/"
    assert "The answers to this text are known. You agree on 0 of 2 questions." in text_of_page(
        page
    )
    assert "Why: It is in the text." in text_of_page(page)
    # Nobody corrects what they have seen; the same answer sent twice is no change.
    stored = Answer.objects.filter(assignment=gold, check_asked=None).latest("id")
    url = f"/work/{gold.pk}/answers/{stored.question_id}/"
    sent = {"key": stored.key, "grade": stored.grade, "spans": "[]"}
    assert walker.client.post(url, sent).status_code in (204, 302)
    refused = walker.client.post(url, sent | {"key": uuid4(), "grade": 0, "spans": "[]"})
    assert refused.status_code == 422
    assert "You have seen the expected answers of this text." in text_of_page(refused)
    assert Answer.objects.filter(assignment=gold, check_asked=None).latest("id") == stored


def test_gold_has_no_feedback_by_default(walker, gold):
    page = walker.do(gold)
    assert "feedback" not in page.redirect_chain[-1][0]
    assert walker.client.get(f"/work/{gold.pk}/feedback/").status_code == 404
