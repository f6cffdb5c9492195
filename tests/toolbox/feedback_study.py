"""Prolific study with feedback on decisions: two people who differ, and an expert."""

import json
from uuid import uuid4

from django.test import Client

from annotation.adjudication.decisions import decide
from annotation.models import Assignment, Campaign, Decision, ItemQuestion, User
from annotation.text.spans import Span
from tests.toolbox.prolific_study import Walker, make_study

QUOTE = "A pier had moved"


def make_feedback_study(slug: str = "crowd", *, feedback: str = "part", **options) -> Campaign:
    """Create an open study without practice and attention checks, with parts of two texts."""
    plain = {"texts": 2, "training": 0, "attention_per_part": 0}
    return make_study(slug, feedback=feedback, **(plain | options))


def start(campaign: Campaign, name: str, client: Client | None = None) -> Walker:
    """Return a person with a part of two texts that are not answered."""
    walker = Walker(client or Client(), campaign, name)
    walker.prepare()
    walker.begin()
    return walker


def give(walker: Walker, assignment: Assignment, *grades: int) -> None:
    """Answer the questions of a text in order, with marked words for a 1, and submit it."""
    for item_question, grade in zip(
        assignment.item.asked.order_by("position"), grades, strict=True
    ):
        assert send_answer(walker, assignment, item_question, grade).status_code in (204, 302)
    walker.client.post(f"/work/{assignment.pk}/submit/")


def send_answer(walker: Walker, assignment: Assignment, item_question: ItemQuestion, grade: int):
    body = assignment.item.text.body
    span = {"start": body.index(QUOTE), "end": body.index(QUOTE) + len(QUOTE), "quote": QUOTE}
    sent = {"key": uuid4(), "grade": grade, "spans": json.dumps([span] if grade else [])}
    return walker.client.post(f"/work/{assignment.pk}/answers/{item_question.question_id}/", sent)


def settle(item_question: ItemQuestion, grade: int | None, by: User, note: str = "") -> Decision:
    """Decide a pair as an expert, with the words of the text for a 1; None withdraws."""
    body = item_question.item.text.body
    spans = [Span(body.index(QUOTE), body.index(QUOTE) + len(QUOTE), QUOTE)] if grade else []
    newest = Decision.objects.filter(
        item=item_question.item, question=item_question.question
    ).last()
    return decide(
        item_question.item,
        item_question.question,
        key=uuid4(),
        grade=grade,
        spans=spans,
        note=note,
        by=by,
        base=newest.key if newest else None,
    )


def make_decided_study(expert: User, **options) -> tuple[Campaign, Walker, Walker]:
    """Return a study and two people who have done both texts, with all pairs decided.

    The first person has given 0 to everything, the second 1 to the first question of each text. The expert
    decides 1 for the first questions and 0 for the second ones.
    """
    campaign = make_feedback_study(**options)
    first, second = start(campaign, "first"), start(campaign, "second")
    for walker, grades in ((first, (0, 0)), (second, (1, 0))):
        for assignment in walker.in_hand():
            give(walker, assignment, *grades)
    for item_question in ItemQuestion.objects.filter(item__campaign=campaign):
        settle(
            item_question,
            1 - item_question.position,
            expert,
            "The pier is the reason." * (not item_question.position),
        )
    return campaign, first, second
