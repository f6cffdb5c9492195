"""/work/<item>/feedback/: answers to a training text beside the expected ones."""

import pytest
from django.test import Client

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
