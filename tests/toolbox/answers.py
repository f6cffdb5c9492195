"""Shortcuts that create a person's answers in a study."""

from uuid import uuid4

from annotation.models import Answer, Assignment, Campaign, Item, User
from annotation.task import saving
from annotation.text.spans import Span
from tests.toolbox.participant_states import backdate_opening


def item_of(campaign: Campaign, name: str) -> Item:
    """Return the item of a text, by the end of its system's or its own name."""
    return next(
        item
        for item in campaign.items.select_related("text")
        if (item.text.system or item.text.name).endswith(name)
    )


def assignment_of(campaign: Campaign, user: User, name: str) -> Assignment:
    return Assignment.objects.select_related("item__text", "participant__campaign__rubric").get(
        item=item_of(campaign, name), participant__rater__user=user
    )


def label(
    campaign: Campaign, user: User, name: str, number: int, grade: int | None, *quotes: str, ms=0
) -> Answer:
    """Save the user's answer to question `number` (from 1), with spans on the quotes."""
    assignment = assignment_of(campaign, user, name)
    body = assignment.item.text.body
    spans = [Span(body.index(q), body.index(q) + len(q), q) for q in quotes]
    question = assignment.item.asked.order_by("position")[number - 1].question
    if ms:
        backdate_opening(assignment)
    return saving.save_answer(
        assignment, question, key=uuid4(), grade=grade, spans=spans, active_ms=ms
    )


def label_item(campaign: Campaign, user: User, name: str, *grades: int, ms=0) -> None:
    """Answer the questions of an item in order; grades from 1 mark the first words."""
    assignment = assignment_of(campaign, user, name)
    for number, grade in enumerate(grades, start=1):
        quotes = [assignment.item.text.body[:7]] if grade else []
        label(campaign, user, name, number, grade, *quotes, ms=ms)


def submit_item(campaign: Campaign, user: User, name: str, ms=0) -> None:
    saving.submit(assignment_of(campaign, user, name), ms)
