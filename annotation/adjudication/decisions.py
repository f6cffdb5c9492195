"""Adjudication decisions: append-only log, and the ratings that follow from it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from annotation.errors import UserError
from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Decision,
    EqualText,
    Item,
    ItemQuestion,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    User,
)
from annotation.models.rating import Exposure
from annotation.participation.withdrawal import lock_campaign
from annotation.text.equal_texts import shifted_spans
from annotation.text.reanchoring import TextOrQuestion, lock_wordings, matches_answer
from annotation.text.spans import Span
from annotation.text.versions import copied_spans_in_current_wording, spans_in_current_wording

RATER_LETTERS = "ABCDEFGHIKLMNOPQRSTUVWXYZ"  # without J, which means the judge elsewhere
RATER_MARKS = 7  # the eighth mark is the decision's own


class AdjudicationError(UserError):
    """A decision that cannot be taken; the message is for the person who made it."""


class AdjudicationConflictError(UserError):
    """A decision made without knowledge of a newer one."""

    status = 409

    def __init__(self, newest: Decision) -> None:
        super().__init__("Somebody decided this question in the meantime.")
        self.newest = newest


@dataclass(frozen=True)
class RaterAnswer:
    """A rater's answer to a pair, numbered within the item so that letters hide the name."""

    number: int
    name: str
    grade: int | None
    spans: list[dict[str, Any]]
    key: str = ""  # of the answer, if a decision can be the same: it has a grade, and words if it needs some
    words: list[dict[str, Any]] = field(default_factory=list)  # that such a decision rests on
    label: str = ""  # of the grade, as raters read it

    @property
    def letter(self) -> str:
        """Return the letter of the rater: A, B, C and so on, then A2."""
        turn, index = divmod(self.number, len(RATER_LETTERS))
        return f"{RATER_LETTERS[index]}{turn + 1 if turn else ''}"

    @property
    def mark(self) -> int:
        return self.number % RATER_MARKS + 1


def rater_answers(item: Item, question: SubQuestion) -> list[RaterAnswer]:
    """Return the raters of the item, each with the newest answer to this question.

    All who answered any question of the item are in it. Their order is steady within the item and
    another one in the next, so that letters blind.
    """
    newest: dict[int, Answer] = {
        answer.assignment_id: answer
        for answer in Answer.objects.filter(
            assignment__item=item, question=question, rubric=None
        ).order_by("-late", "pk")  # what counts goes over what came too late
    }
    answered = Assignment.objects.filter(
        item=item, repeats=None, answers__question__isnull=False, participant__set_aside_at=None
    ).distinct()
    salt = item.campaign.salt
    shuffled = sorted(
        answered.select_related("participant__rater"),
        key=lambda assignment: hashlib.sha256(
            f"{salt}:{item.pk}:{assignment.participant.rater_id}".encode()
        ).digest(),
    )
    rubric = item.campaign.rubric
    return [
        _voice(number, assignment.participant.rater.name, newest.get(assignment.pk), rubric)
        for number, assignment in enumerate(shuffled)
    ]


def _voice(number: int, name: str, answer: Answer | None, rubric: Rubric) -> RaterAnswer:
    if answer is None or answer.grade is None:
        return RaterAnswer(number, name, None, answer.spans if answer else [])
    needs_evidence = rubric.needs_spans(answer.grade)
    evidence = answer.spans if needs_evidence else []
    is_complete = bool(evidence) or not needs_evidence
    return RaterAnswer(
        number, name, answer.grade, answer.spans, str(answer.key) if is_complete else "", evidence
    )


def decide(
    item: Item,
    question: SubQuestion,
    *,
    key: UUID,
    grade: int | None,
    spans: Sequence[Span],
    note: str,
    by: User,
    base: UUID | None,
) -> Decision:
    """Append a decision and make it the adjudicator's rating of the pair; raters' own stay.

    A grade of None withdraws the decision that counts, and its rating with it.
    Idempotent by the key. `base` is the key of the newest decision that the
    page knew of, None if of none. A pilot's decisions are stored and become no ratings.

    Raises AdjudicationError where the key has carried another decision or there is none to
    withdraw, and AdjudicationConflictError where there is a newer decision than the base.
    """
    decision = Decision(
        item=item,
        question=question,
        key=key,
        grade=grade,
        spans=[{"start": s.start, "end": s.end, "quote": s.quote} for s in spans],
        note=note,
        by=by,
    )
    try:
        with transaction.atomic():
            if not (item.campaign.is_pilot or item.campaign.adjudicator_id):
                # The first decision creates it. Campaigns are locked before items and texts, as
                # where a part begins or work is excluded: two could wait for each other for ever.
                lock_campaign(item.campaign)
            # One decision at a time for an item: the projection must follow the newest.
            Item.objects.select_for_update().get(pk=item.pk)
            newest = Decision.objects.filter(item=item, question=question).order_by("pk").last()
            if newest and newest.key not in (key, base):
                if Decision.objects.filter(key=key).exists():
                    raise IntegrityError
                raise AdjudicationConflictError(newest)
            if grade is None and (newest is None or (newest.key != key and newest.grade is None)):
                raise AdjudicationError("This question has no decision to withdraw.")
            decision.save(force_insert=True)
            if not item.campaign.is_pilot:
                _record_rating(decision)
    except IntegrityError:
        return _stored_decision(decision)
    return decision


def _stored_decision(decision: Decision) -> Decision:
    """Return the stored decision with this one's key.

    Raises AdjudicationError where its content differs.
    """
    stored = Decision.objects.get(key=decision.key)
    for name in ("item_id", "question_id", "grade", "spans", "note", "by_id"):
        if getattr(stored, name) != getattr(decision, name):
            raise AdjudicationError(
                "This decision was already sent with a different content. Reload the page."
            )
    return stored


def _record_rating(decision: Decision) -> None:
    """Update the adjudicator's rating of the pair, and its copies, to the newest decision."""
    equal_texts = decision.item.equal_texts.order_by("text_id")
    texts = [decision.item.text_id, *equal_texts.values_list("text_id", flat=True)]
    lock_wordings(texts, [decision.question_id])
    for equal in (None, *equal_texts.select_related("text")):
        _rate(decision, equal)


def _rate(decision: Decision, equal: EqualText | None) -> None:
    """Update the adjudicator's rating of the item's text, or of a text of equal words."""
    campaign = decision.item.campaign
    spans = _anchored_spans(decision, equal)
    Rating.objects.record(
        rater=adjudicator_of(campaign).pk,
        rubric=campaign.rubric_id,
        text=equal.text_id if equal else decision.item.text_id,
        question=decision.question_id,
        grade=decision.grade if spans is not None else None,
        spans=spans or (),
        rated_at=decision.at,
        copied_from=decision.item.text_id if equal else None,
        exposure=Exposure.RATERS,
    )


def _anchored_spans(decision: Decision, equal: EqualText | None) -> list[dict[str, Any]] | None:
    """Return the spans of a decision re-anchored to the present text; None if superseded."""
    item_questions = ItemQuestion.objects.select_related("item__text", "question")
    item_question = item_questions.get(item=decision.item, question=decision.question)
    if equal:
        return copied_spans_in_current_wording(item_question, equal, decision.spans, decision.at)
    return spans_in_current_wording(item_question, decision.spans, decision.at)


def recompute_decision_ratings(edited: TextOrQuestion) -> None:
    """Recompute the adjudicator's ratings of a text, or under a question, from decisions.

    A decision is a rating where grades of the text version that it is about count. A rating that is
    right already is unchanged. In a transaction.
    """
    decisions = Decision.objects.filter(item__campaign__is_pilot=False).order_by("pk")
    decisions = decisions.select_related("item__campaign__adjudicator", "item__text")
    is_text = isinstance(edited, Text)
    of_item = decisions.filter(**{"item__text" if is_text else "question": edited})
    newest = {(decision.item_id, decision.question_id): decision for decision in of_item}
    for decision in newest.values():
        if not _is_rated(decision, None):
            _rate(decision, None)
    copied = decisions.filter(
        **{"item__equal_texts__text" if is_text else "question": edited},
        item__equal_texts__isnull=False,
    )
    newest = {(decision.item_id, decision.question_id): decision for decision in copied.distinct()}
    for decision in newest.values():
        for equal in decision.item.equal_texts.select_related("text"):
            if (equal.text == edited or not is_text) and not _is_rated(decision, equal):
                _rate(decision, equal)


def _is_rated(decision: Decision, equal: EqualText | None) -> bool:
    """Return whether the adjudicator's rating has the grade and the quotes of a decision."""
    item = decision.item
    rating = Rating.objects.filter(
        rater=item.campaign.adjudicator,
        text=equal.text_id if equal else item.text_id,
        question=decision.question_id,
    ).first()
    spans = decision.spans
    if equal:
        body = equal.campaign_text().body or ""
        spans = shifted_spans(spans, item.as_shown().body or "", body)
    is_rating = decision.grade is not None and _anchored_spans(decision, equal) is not None
    return is_rating and matches_answer(rating, decision.grade, spans)


@transaction.atomic
def adjudicator_of(campaign: Campaign) -> Rater:
    """Return the rater that stands for decisions of a campaign; create it the first time.

    It belongs to no dataset, as accounts do: no file that is imported can add to its grades.
    """
    if campaign.adjudicator:
        return campaign.adjudicator
    # Two first decisions at once: the second waits here, and finds the rater of the first.
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.adjudicator is None:
        base = f"{locked.slug}-adjudicated"
        taken_names = set(
            Rater.objects.filter(dataset=None, name__startswith=base).values_list("name", flat=True)
        )
        number = 1
        while (name := base if number == 1 else f"{base}-{number}") in taken_names:
            number += 1
        locked.adjudicator = Rater.objects.create(
            name=name, kind=Rater.Kind.HUMAN, is_adjudicator=True
        )
        locked.save(update_fields=["adjudicator"])
    campaign.adjudicator = locked.adjudicator
    return locked.adjudicator
