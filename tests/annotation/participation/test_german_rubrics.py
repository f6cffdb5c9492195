"""A German study from the link of Prolific to its code, under every rubric of the program."""

from uuid import uuid4

import pytest
from django.test import Client

from annotation.models import Item, Rating
from annotation.models.standard import STANDARD
from tests.toolbox.german_study import QUOTE, find_english, make_german_study
from tests.toolbox.prolific_study import Walker

pytestmark = pytest.mark.any_database


def page_of(response) -> str:
    assert response.status_code == 200, response
    page = response.content.decode()
    assert find_english(page) == []
    return page


def answer(client, assignment, url: str, grade: int, needs_spans: bool) -> None:
    """Send the form of a question as a browser without scripts does."""
    sent = {"key": uuid4(), "grade": grade, "quotes": QUOTE if needs_spans else ""}
    page_of(client.post(url, sent, follow=True))


@pytest.mark.parametrize("slug", STANDARD)
def test_study_is_german_from_the_link_to_the_code(db, slug):
    campaign = make_german_study(rubric=slug)
    rubric = campaign.rubric
    lowest, next_grade = rubric.grades()[:2]
    walker = Walker(Client(), campaign, "liest")
    page_of(walker.arrive())
    page_of(walker.agree())
    page_of(walker.check(1, 1, 0))
    page, answers = "", set()
    for _ in range(10):
        if not walker.in_hand():
            break
        assignment = walker.in_hand()[0]
        page_of(walker.client.get(f"/work/{assignment.pk}/"))
        for position, item_question in enumerate(assignment.item.asked.order_by("position")):
            grade = lowest if position else next_grade
            url = f"/work/{assignment.pk}/answers/{item_question.question_id}/"
            answer(walker.client, assignment, url, grade, rubric.needs_spans(grade))
            if assignment.item.purpose != Item.Purpose.TRAINING:
                answers.add((assignment.item.text_id, item_question.question_id, grade))
        if assignment.check_asked_id:
            url = f"/work/{assignment.pk}/checks/{assignment.check_asked_id}/"
            answer(walker.client, assignment, url, lowest, needs_spans=False)
        page = page_of(walker.client.post(f"/work/{assignment.pk}/submit/", follow=True))
    assert "FERTIG1" in page
    rated = Rating.objects.filter(rater=walker.participant.rater, rubric=rubric)
    assert set(rated.values_list("text", "question", "grade")) == answers
    assert next_grade in {grade for *_pair, grade in answers}
