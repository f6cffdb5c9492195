"""Workflow of a participant: consent, check, survey, training, parts, completion.

Every step is read from the rows, so any device goes on at the right place.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign, CheckQuestion, Item, Part, Participant, User
from annotation.participation import assigning, entry, parts, survey
from annotation.participation.repeats import repeats_due
from annotation.prepared import Prepared

CHECK_TRIES = 2
ENDED_OUTCOMES = (
    Participant.Outcome.SCREENED_OUT,
    Participant.Outcome.FAILED_CHECK,
    Participant.Outcome.RETURNED,
)


@dataclass(frozen=True)
class Offer:
    """A part on offer: its number from 1, of how many (None: unknown), its texts."""

    number: int
    of: int | None
    texts: int
    training: int = 0


def has_ended(participant: Participant) -> bool:
    """Return whether a participant's visit has ended: nothing but its end is shown."""
    return participant.outcome in ENDED_OUTCOMES or participant.set_aside_at is not None


def required_step_url(participant: Participant) -> str:
    """Return the URL of the step required before any item; empty where there is none.

    Nobody is asked to agree to a study, or is checked for it, that assigns nothing now.
    """
    campaign = participant.campaign
    if has_ended(participant):
        return reverse("study_end", args=[campaign.slug])
    if campaign.consent and participant.consented_at is None:
        step = "consent"
    elif participant.checked_at is None and campaign.check_questions.exists():
        step = "check"
    elif survey.is_due_before(participant):
        step = "survey_before"
    else:
        return ""
    if not campaign.assigns_work() and not participant.parts.exists():
        return ""
    return reverse(step, args=[campaign.slug])


@dataclass(frozen=True)
class ItemPosition:
    """Position of an item in its part: its number, of how many, and the item before it.

    Practice is numbered by itself, as it is no work.
    """

    number: int
    of: int
    previous: int | None


def _purposes(**filters: int) -> QuerySet[Any, Any]:
    assignments = Assignment.objects.exclude(state=Assignment.State.RELEASED)
    return assignments.filter(**filters).values_list("pk", "item__purpose")


_OF_PART = Prepared(lambda part: _purposes(part=part), 1)
_OF_PARTICIPANT = Prepared(lambda participant: _purposes(participant=participant), 1)


def item_position(assignment: Assignment) -> ItemPosition:
    """Return the place of an item among those of its part, else of the participant."""
    part = assignment.part_id
    rows = _OF_PART.all(part) if part else _OF_PARTICIPANT.all(assignment.participant_id)
    purposes: dict[int, str] = dict(rows)
    purposes.setdefault(assignment.pk, assignment.item.purpose)
    order = list(purposes)
    index = order.index(assignment.pk)
    is_practice = assignment.item.purpose == Item.Purpose.TRAINING
    same_kind = [pk for pk in order if (purposes[pk] == Item.Purpose.TRAINING) == is_practice]
    return ItemPosition(
        number=same_kind.index(assignment.pk) + 1,
        of=len(same_kind),
        previous=order[index - 1] if index else None,
    )


def url_after_item(assignment: Assignment) -> str:
    """Return the URL that follows an item that is submitted or skipped."""
    if has_feedback(assignment) and assignment.state == Assignment.State.SUBMITTED:
        return reverse("feedback", args=[assignment.pk])
    return next_url(assignment)


def has_feedback(assignment: Assignment) -> bool:
    """Return whether the correct answers of an item are shown once it is submitted."""
    purpose = assignment.item.purpose
    return purpose == Item.Purpose.TRAINING or (
        purpose == Item.Purpose.GOLD and assignment.participant.campaign.gold_feedback
    )


def is_part_over(assignment: Assignment) -> bool:
    """Return whether the part of an item can no longer be finished, so nobody is led on in it.

    An item that is open again, or that is opened while a later part is under way, is submitted all the same.
    """
    if not assignment.participant.campaign.counts_answers():
        return True
    part = assignment.part
    if part is None or part.outcome == Part.Outcome.DONE or parts.can_be_done(part):
        return False
    later = assignment.participant.parts.filter(number__gt=part.number)
    return not (assignment.is_reopened or later.exists())


def next_url(assignment: Assignment) -> str:
    """Return the URL of the next open item, else of the part's end, else of the study's page.

    Where the part is over, that is the study's page.
    """
    slug = assignment.participant.campaign.slug
    if is_part_over(assignment):
        return reverse("work_campaign", args=[slug])
    if next_item := assignment.next_open():
        return next_item.get_absolute_url()
    part = assignment.part
    if part and part.outcome == Part.Outcome.DONE:
        return reverse("study_end", args=[slug])
    return reverse("work_campaign", args=[slug])


@transaction.atomic
def join(campaign: Campaign, worker: str, *, agrees: bool) -> Participant:
    """Create a participation for a person from the platform who has answered the terms.

    Raises EntryError, as `entry.arrive` does.
    """
    participant = entry.get_or_create_participant(campaign, worker)
    if not agrees:
        decline(participant)
    elif campaign.consent:
        consent(participant)
    return participant


@transaction.atomic
def join_by_open_link(campaign: Campaign, user: User | None, browser_secret: str) -> Participant:
    """Create a participation for a person who agreed to the terms at the open link.

    An account takes part as itself; anybody else becomes a guest with a personal link. Who agrees
    twice with the same secret is the same guest.
    """
    if user:
        participant = assigning.invite(campaign, assigning.rater_of(user))
    else:
        participant = entry.get_or_create_guest(campaign, browser_secret)
    if campaign.consent:
        consent(participant)
    return participant


def consent(participant: Participant) -> None:
    """Record the participant's consent to the present version of the terms; the first counts."""
    Participant.objects.filter(pk=participant.pk, outcome="", consented_at=None).update(
        consented_at=timezone.now(), consent_version=participant.campaign.consent_version
    )


def decline(participant: Participant) -> None:
    """Record that a person declined, and nothing else; who has agreed already stays in."""
    _end(participant, Participant.Outcome.RETURNED)


def screening_questions(campaign: Campaign) -> list[CheckQuestion]:
    return list(campaign.check_questions.filter(purpose=CheckQuestion.Purpose.SCREENING))


def screen_out(participant: Participant) -> None:
    _end(participant, Participant.Outcome.SCREENED_OUT)


def pass_check(participant: Participant) -> None:
    Participant.objects.filter(pk=participant.pk, outcome="", checked_at=None).update(
        checked_at=timezone.now()
    )


@transaction.atomic
def miss_check(participant: Participant, tries_before: int) -> None:
    """Count a failed try; the last one ends the visit.

    A page that was sent twice knows of the same tries before, and counts once.
    """
    waiting = Participant.objects.filter(pk=participant.pk, outcome="", checked_at=None)
    if not waiting.filter(check_tries=tries_before).update(check_tries=tries_before + 1):
        return
    if tries_before + 1 >= CHECK_TRIES:
        _end(participant, Participant.Outcome.FAILED_CHECK)


@transaction.atomic
def _end(participant: Participant, outcome: Participant.Outcome) -> None:
    """End a visit before its work, and release what was assigned to a known person.

    Only the first of two requests at the same moment counts.
    """
    waiting = Participant.objects.filter(pk=participant.pk, outcome="", checked_at=None)
    if outcome == Participant.Outcome.RETURNED:
        waiting = waiting.filter(consented_at=None)
    if not waiting.update(outcome=outcome):
        return
    participant.parts.filter(outcome="").update(outcome=Part.Outcome.RETURNED, ended=timezone.now())
    assigning.release_untouched(participant.assignments.all())


def under_way(participant: Participant) -> Part | None:
    """Return the participant's active part; an overdue one is ended here and now."""
    part = participant.parts.order_by("number").last()
    if part is None or part.outcome:
        return None
    if part.is_overdue():
        assigning.expire(participant.campaign)
        return None
    return part


def next_part(participant: Participant) -> Offer | None:
    """Return the part that the participant could begin now; None where there is none.

    Hidden gold items and repeats are counted among its texts, as they are shown.
    """
    campaign, done = participant.campaign, participant.parts_done()
    if not participant.can_work or not campaign.assigns_work() or done == campaign.max_parts:
        return None
    waiting = participant.assignments.filter(state=Assignment.State.OPEN)
    begun = waiting.filter(slot__isnull=False).count()
    texts = begun + len(assigning.available_items(campaign, participant))
    if not texts and assigning.expire(campaign):
        texts = len(assigning.available_items(campaign, participant))
    if not texts:
        return None
    if size := campaign.items_per_part:
        texts = min(texts, max(size - assigning.unpaid(participant), begun, 1))
    had = participant.assignments.exclude(state=Assignment.State.RELEASED).values("item")
    gold = assigning.gold_due(campaign, participant)
    open_purposes = Counter(waiting.values_list("item__purpose", flat=True))
    n_repeats = waiting.filter(repeats__isnull=False).count() + repeats_due(
        max(0, texts - begun), campaign.repeat_percent, campaign.repeat_after
    )
    training = campaign.items.exclude(pk__in=had).filter(purpose=Item.Purpose.TRAINING).count()
    return Offer(
        number=done + 1,
        of=campaign.max_parts,
        texts=texts + open_purposes[Item.Purpose.GOLD] + len(gold) + n_repeats,
        training=training + open_purposes[Item.Purpose.TRAINING],
    )


def has_used_submission(participant: Participant, session_id: str) -> bool:
    """Return whether a platform's submission has had its part.

    The next part takes a new submission.
    """
    done = participant.parts.filter(session_id=session_id, outcome=Part.Outcome.DONE)
    return bool(session_id) and done.exists()
