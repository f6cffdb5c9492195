"""/work/<item>/feedback/: what was said about a text to practise on, beside what was expected."""

import pytest
from django.test import Client

from tests.annotation.study_material import words
from tests.crowd import Walker, make_study


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
    assert "You agree on 1 of 2 questions." in words(page)
    assert "You differ" in words(page)
    assert '<mark data-mark="1" data-label="1">a pier had moved</mark>' in page.content.decode()
    assert '<q dir="auto" translate="no">a pier had moved</q>' in page.content.decode()


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
