"""Handing out the items of a campaign, saving answers, submitting: what happens to a piece of work."""

import random
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Item,
    ItemQuestion,
    NuggetSpan,
    Participant,
    Rater,
    Rating,
    SubQuestion,
    Text,
    User,
)
from annotation.spans import Span
from annotation.work import asked_of


class AnswerRefusedError(Exception):
    """An answer that cannot be taken; the message is for the person who gave it."""


def rater_of(user: User) -> Rater:
    """The rater that an account rates as, made the first time.

    Its name goes into the names of files, so it is a slug; another rater may have that already.
    """
    name = base = slugify(user.username) or "rater"
    number = 1
    while True:
        if rater := Rater.objects.filter(user=user).first():
            return rater
        try:
            with transaction.atomic():
                return Rater.objects.create(user=user, name=name, kind=Rater.Kind.HUMAN)
        except IntegrityError:  # the name is taken, or another request has made this very rater
            number += 1
            name = f"{base}-{number}"


@transaction.atomic
def open_campaign(campaign: Campaign, texts: Sequence[Text], raters: Iterable[Rater]) -> None:
    """Draw the items of a new campaign and lend every one of them to every participant.

    Questions are frozen here. A filtered question is not asked, and a text without words, or
    without a question left to ask, makes no item.
    """
    campaign.save()
    asked: dict[int, list[SubQuestion]] = {}
    for question in SubQuestion.objects.filter(
        topic__in={text.topic_id for text in texts}, filtered_because=""
    ):
        asked.setdefault(question.topic_id, []).append(question)
    drawing = random.Random(campaign.seed)  # noqa: S311 - a draw that can be repeated, no secret
    usable = [text for text in texts if text.body is not None and asked.get(text.topic_id or 0)]
    items = Item.objects.bulk_create(
        Item(campaign=campaign, text=text, position=position)
        for position, text in enumerate(usable)
    )
    frozen = []
    for item in items:
        questions = asked[item.text.topic_id or 0]
        if campaign.questions_per_item and campaign.questions_per_item < len(questions):
            drawn = drawing.sample(questions, campaign.questions_per_item)
            questions = sorted(drawn, key=lambda question: question.position)
        frozen += [
            ItemQuestion(item=item, question=question, position=position)
            for position, question in enumerate(questions)
        ]
    ItemQuestion.objects.bulk_create(frozen)
    participants = Participant.objects.bulk_create(
        Participant(campaign=campaign, rater=rater) for rater in raters
    )
    Assignment.objects.bulk_create(
        Assignment(participant=participant, item=item, position=item.position)
        for participant in participants
        for item in items
    )


def save_answer(
    assignment: Assignment,
    question: SubQuestion,
    *,
    key: UUID,
    grade: int | None,
    spans: Sequence[Span],
) -> Answer:
    """Append an answer and make it the rating of its pair. The same key again is the same answer.

    An item that was handed in and now lacks something is open again.

    Raises AnswerRefusedError where the campaign is closed, or where the key has already carried
    another answer.
    """
    campaign = assignment.participant.campaign
    if campaign.state != Campaign.State.OPEN:
        raise AnswerRefusedError("This study is closed, so nothing more can be saved.")
    stored = [{"start": s.start, "end": s.end, "quote": s.quote} for s in spans]
    try:
        with transaction.atomic():
            # One writer at a time for an item: the projection must follow the newest answer.
            locked = Assignment.objects.select_for_update().get(pk=assignment.pk)
            answer = Answer.objects.create(
                assignment=assignment,
                question=question,
                key=key,
                grade=grade,
                spans=stored,
                text_sha256=assignment.item.text.sha256,
            )
            _project(answer, campaign)
            is_handed_in = locked.state == Assignment.State.SUBMITTED
            if is_handed_in and not all(a.is_done for a in asked_of(locked, campaign.rubric)):
                locked.state = Assignment.State.OPEN
                locked.save(update_fields=["state"])
    except IntegrityError:
        answer = Answer.objects.get(assignment=assignment, key=key)
        if (answer.question_id, answer.grade, answer.spans) != (question.pk, grade, stored):
            raise AnswerRefusedError("This key has already carried another answer.") from None
    return answer


def _project(answer: Answer, campaign: Campaign) -> None:
    """Bring the rating of the answered pair in line with the newest answer."""
    pair: dict[str, Any] = {
        "rater": answer.assignment.participant.rater,
        "rubric": campaign.rubric,
        "text": answer.assignment.item.text,
        "question": answer.question,
    }
    if answer.grade is None:
        Rating.objects.filter(**pair).delete()
        return
    rating, _ = Rating.objects.update_or_create(**pair, defaults={"grade": answer.grade})
    rating.spans.all().delete()
    NuggetSpan.objects.bulk_create(
        NuggetSpan(rating=rating, position=position, **span)
        for position, span in enumerate(answer.spans)
    )


def submit(assignment: Assignment) -> None:
    """Hand an item in. Answers can still be changed afterwards while the campaign is open."""
    assignment.state = Assignment.State.SUBMITTED
    assignment.submitted_at = timezone.now()
    assignment.save(update_fields=["state", "submitted_at"])


def skip(assignment: Assignment, note: str) -> None:
    """Put an item aside with the rater's reason; what was answered stays.

    Raises AnswerRefusedError where the campaign is closed or the item was handed in.
    """
    if assignment.participant.campaign.state != Campaign.State.OPEN:
        raise AnswerRefusedError("This study is closed.")
    if assignment.state == Assignment.State.SUBMITTED:
        raise AnswerRefusedError("It was handed in already, so it cannot be skipped.")
    assignment.state = Assignment.State.SKIPPED
    assignment.note = note
    assignment.save(update_fields=["state", "note"])


def next_open(assignment: Assignment) -> Assignment | None:
    """The next item that its participant has not handed in: further on, else from the beginning."""
    mine = assignment.participant.assignments.filter(state=Assignment.State.OPEN).exclude(
        pk=assignment.pk
    )
    return mine.filter(position__gt=assignment.position).first() or mine.first()
