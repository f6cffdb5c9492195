"""What an expert decides where raters differ: kept for ever, and the rating of a rater of its own."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Decision,
    Item,
    ItemQuestion,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    User,
)
from annotation.text.carrying import Worded, lock_wordings, says
from annotation.text.spans import Span
from annotation.text.versions import as_now

LETTERS = "ABCDEFGHIKLMNOPQRSTUVWXYZ"  # without J, which means the judge elsewhere
RATER_MARKS = 7  # the eighth mark is the decision's own


class DecisionRefusedError(Exception):
    """A decision that cannot be taken; the message is for the person who made it."""


class DecidedMeanwhileError(Exception):
    """A decision made without knowledge of a newer one."""

    def __init__(self, newest: Decision) -> None:
        super().__init__("Somebody has decided this meanwhile.")
        self.newest = newest


@dataclass(frozen=True)
class Voice:
    """What a rater said about a pair. The number orders the raters of an item, and tells no name."""

    number: int
    name: str
    grade: int | None
    spans: list[dict[str, Any]]
    key: str = ""  # of the answer, if a decision can be the same: it has a grade, and words if it needs some
    words: list[dict[str, Any]] = field(default_factory=list)  # that such a decision rests on
    label: str = ""  # of the grade, as raters read it

    @property
    def letter(self) -> str:
        """A, B, C and so on, then A2."""
        turn, index = divmod(self.number, len(LETTERS))
        return f"{LETTERS[index]}{turn + 1 if turn else ''}"

    @property
    def mark(self) -> int:
        return self.number % RATER_MARKS + 1


def voices(item: Item, question: SubQuestion) -> list[Voice]:
    """Everybody who answered any question of the item, with their newest answer to this one.

    Their order is steady within the item and another one in the next, so that letters blind.
    """
    newest: dict[int, Answer] = {
        answer.assignment_id: answer
        for answer in Answer.objects.filter(
            assignment__item=item, question=question, rubric=None
        ).order_by("-late", "pk")  # what counts goes over what came too late
    }
    answered = Assignment.objects.filter(
        item=item, answers__question__isnull=False, participant__set_aside_at=None
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


def _voice(number: int, name: str, answer: Answer | None, rubric: Rubric) -> Voice:
    if answer is None or answer.grade is None:
        return Voice(number, name, None, answer.spans if answer else [])
    rests = rubric.rests_on_words(answer.grade)
    words = answer.spans if rests else []
    is_whole = bool(words) or not rests
    return Voice(
        number, name, answer.grade, answer.spans, str(answer.key) if is_whole else "", words
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
    The same key again is the same decision. `base` is the key of the newest decision that the
    page knew of, None if of none. A pilot's decisions are kept and become no ratings.

    Raises DecisionRefusedError where the key has carried another decision or there is none to
    withdraw, and DecidedMeanwhileError where there is a newer decision than the base.
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
            # One decision at a time for an item: the projection must follow the newest.
            Item.objects.select_for_update().get(pk=item.pk)
            newest = Decision.objects.filter(item=item, question=question).order_by("pk").last()
            if newest and newest.key not in (key, base):
                if Decision.objects.filter(key=key).exists():
                    raise IntegrityError
                raise DecidedMeanwhileError(newest)
            if grade is None and (newest is None or (newest.key != key and newest.grade is None)):
                raise DecisionRefusedError(
                    "Nothing is decided here, so there is nothing to withdraw."
                )
            decision.save(force_insert=True)
            if not item.campaign.is_pilot:
                _project(decision)
    except IntegrityError:
        return _same(decision)
    return decision


def _same(decision: Decision) -> Decision:
    """The stored decision that has this one's key, as long as it says the same."""
    stored = Decision.objects.get(key=decision.key)
    for name in ("item_id", "question_id", "grade", "spans", "note", "by_id"):
        if getattr(stored, name) != getattr(decision, name):
            raise DecisionRefusedError("This key has already carried another decision.")
    return stored


def _project(decision: Decision) -> None:
    """Bring the adjudicator's rating of the pair in line with the newest decision."""
    campaign = decision.item.campaign
    rater = adjudicator_of(campaign)
    lock_wordings([decision.item.text_id], [decision.question_id])
    spans = _spans(decision)
    Rating.objects.record(
        rater=rater.pk,
        rubric=campaign.rubric_id,
        text=decision.item.text_id,
        question=decision.question_id,
        grade=decision.grade if spans is not None else None,
        spans=spans or (),
        said=decision.at,
    )


def _spans(decision: Decision) -> list[dict[str, Any]] | None:
    """In the words of now; None where grades of the words that the decision is about are set aside."""
    asked = ItemQuestion.objects.select_related("item__text", "question")
    shown = asked.get(item=decision.item, question=decision.question)
    return as_now(shown, decision.spans, decision.at)


def level(thing: Worded) -> None:
    """Let decisions about a text, or under a question, be ratings or none, as grades of the words that they
    are about count. In a transaction. A rating that says what it is to say stays as it is.
    """
    path = "item__text" if isinstance(thing, Text) else "question"
    decisions = Decision.objects.filter(**{path: thing}, item__campaign__is_pilot=False)
    newest = {
        (decision.item_id, decision.question_id): decision
        for decision in decisions.order_by("pk").select_related("item__campaign__adjudicator")
    }
    for (_item, question), decision in newest.items():
        rater = decision.item.campaign.adjudicator
        rated = Rating.objects.filter(rater=rater, text=decision.item.text_id, question=question)
        is_to_be = decision.grade is not None and _spans(decision) is not None
        if not (is_to_be and says(rated.first(), decision.grade, decision.spans)):
            _project(decision)


@transaction.atomic
def adjudicator_of(campaign: Campaign) -> Rater:
    """The rater as whom decisions about a campaign count, made the first time.

    It belongs to no dataset, as accounts do: no file that is imported can add to its grades.
    """
    if campaign.adjudicator:
        return campaign.adjudicator
    # Two first decisions at once: the second waits here, and finds the rater of the first.
    held = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if held.adjudicator is None:
        base = f"{held.slug}-adjudicated"
        taken = set(
            Rater.objects.filter(dataset=None, name__startswith=base).values_list("name", flat=True)
        )
        number = 1
        while (name := base if number == 1 else f"{base}-{number}") in taken:
            number += 1
        held.adjudicator = Rater.objects.create(
            name=name, kind=Rater.Kind.HUMAN, is_adjudicator=True
        )
        held.save(update_fields=["adjudicator"])
    campaign.adjudicator = held.adjudicator
    return held.adjudicator
