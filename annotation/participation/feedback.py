"""Feedback after adjudication: a person's answers beside the decisions on the same pairs."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Decision,
    Item,
    ItemQuestion,
    Message,
    Part,
    Participant,
)
from annotation.participation.messages import write_to_researchers
from annotation.participation.withdrawal import ParticipationError, lock_participant

OPEN, SUBMITTED = Assignment.State.OPEN, Assignment.State.SUBMITTED
Pair = tuple[int, int]  # item, question


class DecisionChangedError(ParticipationError):
    """The decision on a pair is another one than the page displayed."""

    status = 409


@dataclass(frozen=True)
class DecidedPair:
    """A person's answer to a pair, the decision on it, and what the person wrote about it."""

    item_question: ItemQuestion
    assignment: Assignment
    answer: Answer
    decision: Decision
    notes: list[Message] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        return self.answer.grade != self.decision.grade

    @property
    def key(self) -> Pair:
        return self.item_question.item_id, self.item_question.question_id


def decided_pairs(participant: Participant) -> list[DecidedPair]:
    """Return the pairs whose decision a person may see, those that differ first.

    A person sees decisions on pairs of the study that they answered and submitted, once all
    raters of the item have finished it; between the parts of an open campaign only those of parts that
    are done. Five queries; none while the campaign gives no feedback.
    """
    assignments = _visible_assignments(participant)
    if assignments is None:
        return []
    by_item = {row.item_id: row for row in assignments}
    decisions = _newest_decisions(Decision.objects.filter(item__in=by_item))
    answers = {
        (answer.assignment_id, answer.question_id): answer
        for answer in Answer.objects.filter(
            assignment__in=[by_item[item].pk for item, _question in decisions],
            question__isnull=False,
            rubric=None,
        ).order_by("-late", "pk")  # what counts goes over what came too late
    }
    notes: dict[int | None, list[Message]] = {}
    for message in participant.messages.filter(about__isnull=False):
        notes.setdefault(message.about_id, []).append(message)
    rows = ItemQuestion.objects.filter(item__in={item for item, _question in decisions})
    pairs = []
    for item_question in rows.select_related("question", "item__text").defer("item__text__body"):
        decision = decisions.get((item_question.item_id, item_question.question_id))
        assignment = by_item[item_question.item_id]
        answer = answers.get((assignment.pk, item_question.question_id))
        if decision and answer and answer.grade is not None:
            pairs.append(
                DecidedPair(
                    item_question, assignment, answer, decision, notes.get(item_question.pk, [])
                )
            )
    return sorted(
        pairs,
        key=lambda pair: (not pair.differs, pair.assignment.position, pair.item_question.position),
    )


def _visible_assignments(participant: Participant) -> QuerySet[Assignment] | None:
    """Return the assignments with visible decisions; None while there is no feedback."""
    campaign = participant.campaign
    is_closed = campaign.state == Campaign.State.CLOSED
    is_by_part = campaign.feedback == Campaign.Feedback.PART
    if not is_by_part and not (campaign.feedback == Campaign.Feedback.CLOSED and is_closed):
        return None
    assignments = participant.assignments.filter(
        item__in=_finished_items(campaign), repeats=None, state=SUBMITTED
    )
    return assignments.filter(part__outcome=Part.Outcome.DONE) if is_by_part else assignments


def _finished_items(campaign: Campaign) -> QuerySet[Any, Any]:
    """Return the items of the study that all raters have finished, repeats included.

    While a campaign is not closed, an item with a free place has a rater who is still to come.
    """
    still_open = Assignment.objects.filter(item=OuterRef("pk"), state=OPEN)
    items = campaign.items.filter(~Exists(still_open), purpose=Item.Purpose.STUDY)
    if campaign.state == Campaign.State.CLOSED:
        return items
    submitted = Q(assignments__slot__isnull=False, assignments__state=SUBMITTED)
    counted = items.annotate(n_submitted=Count("assignments", filter=submitted))
    return counted.filter(n_submitted__gte=campaign.raters_per_item).values("pk")


def _newest_decisions(decisions: QuerySet[Decision]) -> dict[Pair, Decision]:
    """Return the newest decision of each pair; none of pairs where it was withdrawn."""
    newest = {(row.item_id, row.question_id): row for row in decisions.order_by("pk")}
    return {pair: decision for pair, decision in newest.items() if decision.grade is not None}


def note_opening(participant: Participant) -> None:
    """Record that decisions are displayed to a person for the first time in a campaign."""
    if participant.feedback_opened_at is None:
        unopened = Participant.objects.filter(pk=participant.pk, feedback_opened_at=None)
        unopened.update(feedback_opened_at=timezone.now())


def decision_was_shown(assignment: Assignment, question: int) -> bool:
    """Return whether a person can have seen the decision on a pair: they answer it no more.

    `assignment.participant` and its campaign are read before; nothing is read for those who saw none.
    """
    participant = assignment.participant
    if participant.feedback_opened_at is None:
        return False
    decisions = Decision.objects.filter(item=assignment.item_id, question=question)
    if not _newest_decisions(decisions):
        return False
    visible = _visible_assignments(participant)
    return visible is not None and visible.filter(pk=assignment.pk).exists()


@transaction.atomic
def disagree(
    participant: Participant, pair: DecidedPair, body: str, known_message: int, decision: UUID
) -> Message:
    """Send a note about a decision to the researchers; idempotent if a form is sent twice.

    `decision` is the key of the decision that the page displayed. Raises DecisionChangedError where
    another one counts by now, and ParticipationError as `write_to_researchers`.
    """
    # The campaign first, as where a part begins; the item as where an expert decides.
    participant = lock_participant(participant)
    item = Item.objects.select_for_update().get(pk=pair.item_question.item_id)
    decisions = Decision.objects.filter(item=item, question=pair.item_question.question_id)
    newest = decisions.order_by("pk").last()
    if newest is None or newest.key != decision:
        raise DecisionChangedError(
            _("This decision has changed. Please read it, then send your note again.")
        )
    return write_to_researchers(participant, body, known_message, about=pair.item_question)
